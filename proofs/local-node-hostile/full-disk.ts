/**
 * A disk that is full. The data folder lies on a small file system in memory, in a mount namespace of its own: root may mount it, others
 * may in a user namespace. What holds the namespace is a sleeping process; the control plane is started in it, twice.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, tryToKill } from '@reeve/cli/plane-testing';
import { connect, type Connection, systemKubePorts } from '@reeve/kube';
import { REEVE, temporaryFolder, until } from '@reeve/rig';
import { PATIENCE, Place } from './place.ts';

const SIZE_MB = 96;
/** Of util-linux. */
const UNSHARE = 'unshare';
const NSENTER = 'nsenter';
/** Of a program that ends on the full disk. */
const CODE = 7;
const FILL =
  'trap "exit 0" TERM; dd if=/dev/zero of="$DATA/fill" bs=64k; echo "dd ended with $?"; while :; do sleep 0.1; done';

/** As root without, for everybody else with a user namespace. */
const namespaces = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--mount', '--map-root-user'];
const entry = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--mount', '--preserve-credentials'];

export const diskUsed = `tmpfs of ${SIZE_MB} MB by unshare ${namespaces.join(' ')}`;

class SmallDisk implements AsyncDisposable {
  readonly folder = temporaryFolder('reeve-disk');
  readonly #holder: ChildProcess;
  #plane: ChildProcess | undefined;
  #connection: Connection | undefined;
  said = '';

  constructor() {
    const mount = `mount -t tmpfs -o size=${SIZE_MB}m,mode=0700 tmpfs "$0" && : >"$0/mounted" && exec sleep 100000`;
    this.#holder = spawn(UNSHARE, [...namespaces, 'sh', '-c', mount, this.folder], { stdio: 'ignore' });
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** As seen from outside of the namespace. */
  outside(path: string): string {
    return `/proc/${this.#holder.pid}/root${path}`;
  }

  async mounted(): Promise<void> {
    await until('the small disk is there', () => existsSync(this.outside(join(this.folder, 'mounted'))), PATIENCE);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.outside(this.folder));
    return bavail * bsize;
  }

  async up(): Promise<void> {
    const command = [process.execPath, REEVE, 'up', '--data', this.data, '--nodes', '1'];
    const plane = spawn(NSENTER, ['--target', String(this.#holder.pid), ...entry, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#plane = plane;
    this.said = '';
    for (const stream of [plane.stdout, plane.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    }
    const isUp = () => {
      assert.equal(plane.exitCode, null, this.said);
      return this.said.includes('Ctrl-C');
    };
    await until('the control plane is up', isUp, PATIENCE);
  }

  get isUp(): boolean {
    return this.#plane?.exitCode === null && this.#plane.signalCode === null;
  }

  async down(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
    const plane = this.#plane;
    this.#plane = undefined;
    if (!plane || plane.exitCode !== null || plane.signalCode !== null) return;
    const ended = once(plane, 'exit');
    plane.kill('SIGTERM');
    const late = setTimeout(() => plane.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(late);
  }

  async client() {
    const file = this.outside(join(this.data, 'kubeconfig'));
    this.#connection ??= await connect(systemKubePorts(), { file });
    return this.#connection.client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    // Found by the folder in their environment, as the pods of any machine.
    const machine = Object.assign(new Machine(), { data: this.data });
    await machine.end();
    if (this.#holder.pid !== undefined) tryToKill(this.#holder.pid);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** How the program ends that waits for a flag. */
async function endOf(place: Place, flag: string): Promise<number | undefined> {
  writeFileSync(flag, '');
  try {
    const pod = await until(
      'it has ended',
      async () => {
        const found = await place.pod('ends');
        return (found.status?.phase === 'Failed' || found.status?.phase === 'Succeeded') && found;
      },
      PATIENCE,
    );
    return pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode;
  } finally {
    rmSync(flag, { force: true });
  }
}

/** What was said, and what went on. */
export async function fullDisk(): Promise<string> {
  await using disk = new SmallDisk();
  mkdirSync(disk.folder, { recursive: true });
  await disk.mounted();
  await disk.up();
  const machine = Object.assign(new Machine(), { data: disk.data });
  const place = new Place(machine, () => disk.client());
  await place.startHealthy();
  await place.write('before');
  const volume = { volumes: [{ name: 'data', emptyDir: {} }] };
  const mount = {
    env: [{ name: 'DATA', value: '/srv/data' }],
    volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
  };
  // Outside of the small disk: what one waits for must not need room on it.
  const flag = `${disk.folder}.flag`;
  const waits = `while ! [ -e ${flag} ]; do sleep 0.1; done; exit ${CODE}`;
  await place.create('ends', ['sh', '-c', waits], { restartPolicy: 'Never' });
  await place.create('goes', ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.1; done']);
  await place.running('ends');
  await place.running('goes');
  await place.create('fills', ['sh', '-c', FILL], volume, mount);
  const { metadata } = await place.running('fills');
  await until('the disk is full', () => disk.freeBytes < 4_096, PATIENCE);
  const ended = await endOf(place, flag);
  assert.equal(ended, CODE, 'a failure on a full disk is told as what it is');
  const goneMs = await place.remove('goes');
  // Writes still find room that the log of the store has already; in the end there is none.
  let told = '';
  const written: string[] = [];
  for (let number = 0; told === '' && number < 3_000; number++) {
    await place.write(`full-${number}`).then(
      () => written.push(`full-${number}`),
      (error: unknown) => (told = error instanceof Error ? error.message : String(error)),
    );
  }
  assert.match(told, /disk is full|no space left/i);
  assert.ok(disk.isUp, `the control plane ended: ${disk.said}`);
  assert.deepEqual(await place.lookAround(), [], 'the healthy pod goes on, and what was stored is served');
  const volumeFile = join(disk.data, 'nodes', 'node-1', 'pods', metadata.uid, 'volumes');
  rmSync(disk.outside(volumeFile), { recursive: true, force: true });
  assert.ok(disk.freeBytes > 1 << 20, 'there is room again');
  await until('it takes writes again', () => place.write('room').then(() => true), PATIENCE);
  await place.remove('fills');
  await disk.down();
  await disk.up();
  for (const name of ['before', ...written, 'room']) assert.ok(await place.isThere(name), `${name} was acknowledged`);
  await place.write('after');
  assert.deepEqual(await place.lookAround(), [], 'the same run of the healthy pod');
  return `a program that ended on it: ${ended}; a pod deleted on it: gone in ${goneMs.toFixed(0)} ms; a write: ${told}; reads and pods go on; with room again it takes writes at once; started anew it has all ${written.length + 2} that it acknowledged, and the same processes`;
}
