/** What people and programs do to a control plane, and what it must say to that. Each case returns what was said. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine, readOr } from '@reeve/cli/plane-testing';
import { REEVE, run, temporaryFolder, until } from '@reeve/rig';
import type { PodOnSite } from '../site/kinds.ts';
import { PATIENCE, type Place } from './place.ts';

export interface Case {
  readonly name: string;
  run(place: Place): Promise<string>;
}

/** The log may be longer for as long as nobody has looked: its limit, and what comes in that time. */
const MOST_LOG_BYTES = 200 << 20;
const FLOOD_MS = 12_000;
const MANY = 100;

/** `reeve …` that is to refuse: its exit code, and what it said. */
async function refusal(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [REEVE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE.timeoutMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(late);
  assert.ok(code !== 0 && code !== null, `it ended with ${code}: ${said}`);
  return said.trim();
}

/** Of the first run of a pod. */
function logOf(place: Place, { metadata, spec }: PodOnSite): string {
  const way = ['nodes', spec?.nodeName ?? '', 'pods', metadata.uid, 'containers', 'main', '0', 'log'];
  return join(place.machine.data, ...way);
}

const unknownImage: Case = {
  name: 'an image that nobody knows',
  async run(place) {
    await place.create('unknown', [], {}, { image: 'nginx:1.29', command: undefined });
    const said = await place.event('unknown', 'Failed');
    assert.match(said, /image "nginx:1\.29" is not known here; there are .*valkey/);
    await place.remove('unknown');
    return said;
  },
};

const portInUse: Case = {
  name: 'a port that is in use: for the API, and for a pod',
  async run(place) {
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { readonly port: number };
    const folder = join(temporaryFolder('reeve-port'), 'data');
    const said = await refusal('up', '--data', folder, '--port', String(port));
    assert.match(said, /PORT_IN_USE/);
    const script = `require('node:net').createServer().listen(${port}, '127.0.0.1')`;
    await place.create('late', [process.execPath, '-e', script], { hostNetwork: true, restartPolicy: 'Never' });
    const ended = await until(
      'it has ended',
      async () => (await place.pod('late')).status?.containerStatuses?.[0]?.state?.terminated,
      PATIENCE,
    );
    assert.equal(ended.exitCode, 1);
    const [why = ''] = /listen EADDRINUSE.*/.exec(readOr(logOf(place, await place.pod('late')))) ?? [];
    assert.notEqual(why, '', 'its log says why');
    await place.remove('late');
    return `${said.split('\n')[0]}; the pod: ${ended.reason}, exit code ${ended.exitCode}, its log: ${why}`;
  },
};

const forks: Case = {
  name: 'a pod that forks without end, each child in a session of its own, and ignores SIGTERM',
  async run(place) {
    const script =
      'trap "" TERM; while :; do setsid sh -c "trap \\"\\" TERM; sleep 300 & sleep 300" & sleep 0.02; done';
    await place.create('forks', ['sh', '-c', script]);
    const { uid } = (await place.pod('forks')).metadata;
    const its = () => place.machine.processes().filter((pid) => readOr(`/proc/${pid}/environ`).includes(uid));
    const many = await until('they are many', () => its().length > MANY && its().length, PATIENCE);
    const ms = await place.remove('forks');
    assert.deepEqual(its(), [], 'a pod that is gone has no process');
    return `${await place.event('forks', 'Killing')}; ${many} processes, all gone ${ms.toFixed(0)} ms after its deletion`;
  },
};

const floods: Case = {
  name: 'a pod that floods its log, 50 MB a second',
  async run(place) {
    const script = 'while :; do head -c 5000000 /dev/zero | tr "\\0" x; sleep 0.1; done';
    await place.create('floods', ['sh', '-c', script]);
    const log = logOf(place, await place.running('floods'));
    let longest = 0;
    let emptied = 0;
    for (const end = performance.now() + FLOOD_MS, size = { last: 0 }; performance.now() < end; ) {
      const now = statSync(log).size;
      if (now < size.last) emptied++;
      size.last = now;
      longest = Math.max(longest, now);
      await sleep(50);
    }
    assert.ok(emptied > 0, 'it was emptied');
    assert.ok(longest < MOST_LOG_BYTES, `${longest} bytes`);
    const said = await place.event('floods', 'LogEmptied');
    assert.equal((await place.pod('floods')).status?.containerStatuses?.[0]?.restartCount, 0, 'it goes on');
    await place.remove('floods');
    return `${said}; at most ${Math.round(longest / 1e6)} MB, emptied ${emptied} times`;
  },
};

const neverDies: Case = {
  name: 'a pod that ignores SIGTERM',
  async run(place) {
    await place.create('stubborn', ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done']);
    await place.running('stubborn');
    const ms = await place.remove('stubborn');
    assert.ok(ms > 1_500 && ms < 15_000, `${ms} ms`);
    return `${await place.event('stubborn', 'Killing')}; gone after ${ms.toFixed(0)} ms, its grace is 2 s`;
  },
};

const wildcard: Case = {
  name: 'a program that listens on all addresses',
  async run(place) {
    const script = "require('node:net').createServer().listen(0, '0.0.0.0')";
    await place.create('wild', [process.execPath, '-e', script], { restartPolicy: 'Never' });
    const said = await place.event('wild', 'WildcardListener');
    await until(
      'it was ended',
      async () => (await place.pod('wild')).status?.containerStatuses?.[0]?.state?.terminated !== undefined,
      PATIENCE,
    );
    await place.remove('wild');
    return said;
  },
};

const inUse: Case = {
  name: 'a data folder that is in use',
  async run(place) {
    const said = await refusal('up', '--data', place.machine.data);
    assert.match(said, /PLANE_RUNNING/);
    // A good backup: it is the folder that is refused, not the file.
    const copy = join(temporaryFolder('reeve-copy'), 'backup.db');
    const args = ['backup', copy, '--data', place.machine.data];
    const { code, stderr } = await run(process.execPath, [REEVE, ...args], PATIENCE);
    assert.equal(code, 0, stderr);
    const restored = await refusal('restore', copy, '--data', place.machine.data);
    assert.match(restored, /PLANE_RUNNING/);
    return `${said.split('\n')[0]}; restore: ${restored.split('\n')[0]}`;
  },
};

const newer: Case = {
  name: 'a data folder of a newer version',
  async run() {
    const machine = new Machine();
    try {
      await machine.up('--nodes', '1');
      await machine.down('SIGTERM');
      writeFileSync(join(machine.data, 'version'), '99\n');
      const said = await refusal('up', '--data', machine.data);
      assert.match(said, /newer reeve .*DATA_FOLDER/);
      return said.split('\n')[0] ?? '';
    } finally {
      await machine.end();
    }
  },
};

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** As a browser would send it: whatever else it knows, it says where the page comes from. */
async function ask(url: URL, ca: string, method: string, headers: Readonly<Record<string, string>>): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  request(url, { method, headers, ca, servername: 'localhost' }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
  })
    .on('error', reject)
    .end();
  return promise;
}

const webPage: Case = {
  name: 'a web page of another origin, with the token and without, and one that names this server otherwise',
  async run(place) {
    const kubeconfig = readFileSync(join(place.machine.data, 'kubeconfig'), 'utf8');
    const field = (name: string) => new RegExp(`"${name}": "([^"]+)"`).exec(kubeconfig)?.[1] ?? '';
    const url = new URL('/api/v1/namespaces/default/secrets', field('server'));
    const ca = Buffer.from(field('certificate-authority-data'), 'base64').toString();
    const authorization = `Bearer ${field('token')}`;
    const origin = 'https://evil.example';
    assert.equal((await ask(url, ca, 'GET', { authorization })).status, 200, 'the token is good');
    const page = await ask(url, ca, 'GET', { authorization, origin });
    assert.equal(page.status, 403, page.text);
    assert.doesNotMatch(page.text, /"items"/);
    assert.equal((await ask(url, ca, 'POST', { authorization, origin, 'content-type': 'text/plain' })).status, 403);
    const preflight = await ask(url, ca, 'OPTIONS', { origin, 'access-control-request-method': 'POST' });
    assert.ok(preflight.status >= 400, String(preflight.status));
    for (const { headers } of [page, preflight]) assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal((await ask(url, ca, 'GET', {})).status, 401, 'without a token');
    const rebound = await ask(url, ca, 'GET', { authorization, host: 'evil.example' });
    assert.equal(rebound.status, 403, rebound.text);
    const told = JSON.parse(page.text) as { readonly message?: string };
    return `${page.status}: ${told.message}; a name that is not its own: ${rebound.status}; preflight: ${preflight.status}, no permission in its headers`;
  },
};

export const cases: readonly Case[] = [
  unknownImage,
  portInUse,
  forks,
  floods,
  neverDies,
  wildcard,
  inUse,
  newer,
  webPage,
];
