/** The end of a control plane by every way that people have: signals once, twice, to it alone; kill -9; `reeve down` meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { REEVE, run, until } from '@reeve/rig';
import { Machine, PATIENCE, readOr, tryToKill } from './plane-testing.ts';

const deployments = resource<AnyObject>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});

const jobs = resource<AnyObject>({ group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true });

/** They take a moment to end: there is time to do something meanwhile. */
const MOMENT_S = 1.5;
/** Also to start a second program on a machine that has much to do. */
const LONG_S = 6;
const PODS = 2;

const slow = (endsAfterS: number): AnyObject & { readonly metadata: { readonly name: string } } => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'slow' },
  spec: {
    replicas: PODS,
    selector: { matchLabels: { app: 'slow' } },
    template: {
      metadata: { labels: { app: 'slow' } },
      spec: {
        terminationGracePeriodSeconds: 10,
        containers: [{ name: 'main', image: 'host', command: ['sh', '-c', slowly(endsAfterS)] }],
      },
    },
  },
});

const slowly = (endsAfterS: number) => `trap "sleep ${endsAfterS}; exit 0" TERM; while :; do sleep 0.05; done`;

const down = (machine: Machine) =>
  run(process.execPath, [REEVE, 'down', '--data', machine.data], { timeoutMs: 60_000 });

/** With pods that run. */
async function begun(t: TestContext, endsAfterS = MOMENT_S): Promise<Machine> {
  const machine = Machine.start(t);
  await machine.up('--nodes', '2');
  await (await machine.client()).resource(deployments, 'default').create(slow(endsAfterS));
  await running(machine);
  return machine;
}

/** A status may be of before they were ended: the processes are looked at, too. */
async function running(machine: Machine): Promise<void> {
  const statusOf = async () => (await (await machine.client()).resource(deployments, 'default').get('slow')).status;
  await until(
    'the pods run',
    async () => {
      const { readyReplicas } = ((await statusOf()) ?? {}) as { readonly readyReplicas?: number };
      return readyReplicas === PODS && machine.processes().length >= PODS;
    },
    PATIENCE,
  );
}

const holderOf = (machine: Machine) =>
  JSON.parse(readFileSync(join(machine.data, 'holder'), 'utf8')) as { readonly pid: number };

test('reeve down that comes while reeve up is stopping ends everything; so it does after two signals, and after SIGTERM', async (t) => {
  const machine = await begun(t);
  for (const signals of [['SIGINT'], ['SIGINT', 'SIGINT'], ['SIGTERM']] as const) {
    const { pid } = holderOf(machine);
    const ended = machine.ended();
    for (const signal of signals) process.kill(pid, signal);
    const { code, stdout, stderr } = await down(machine);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /2 pods ended/);
    assert.deepEqual(machine.processes(), []);
    assert.equal(await ended, 0);
    assert.match(machine.said, new RegExp(`Stopping\\. Pods go on: .*reeve down --data ${machine.data}`));
    assert.doesNotMatch(machine.said, /still open/);
    await machine.up('--nodes', '2');
    await running(machine);
  }
});

test('reeve down right after kill -9 ends everything, also when nobody has asked for the exit code of the dead', async (t) => {
  const machine = await begun(t);
  await machine.down('SIGINT');
  // Its parent never asks, as in containers without an init.
  const line = `"$@" >/dev/null 2>&1 & exec sleep 300`;
  const parent = spawn(
    'sh',
    ['-c', line, 'sh', process.execPath, REEVE, 'up', '--data', machine.data, '--nodes', '2'],
    {
      stdio: 'ignore',
    },
  );
  t.after(() => parent.kill('SIGKILL'));
  const last = holderOf(machine).pid;
  const pid = await until(
    'it has the store',
    () => Promise.resolve(holderOf(machine).pid !== last && holderOf(machine).pid),
    PATIENCE,
  );
  await running(machine);
  tryToKill(pid);
  const { code, stdout, stderr } = await down(machine);
  assert.equal(code, 0, stdout + stderr);
  assert.match(readOr(`/proc/${pid}/stat`), /^\d+ \(.*\) Z /, 'nobody has asked for its exit code');
  assert.match(stdout, /2 pods ended/);
  assert.deepEqual(machine.processes(), []);
});

test('a Job that succeeded after its control plane was killed has succeeded, and ran once, also when reeve down came in between', async (t) => {
  const machine = Machine.start(t);
  await machine.up('--nodes', '2');
  const flag = join(dirname(machine.data), 'flag');
  const ran = join(dirname(machine.data), 'ran');
  const script = `echo ran >>${ran}; while ! [ -e ${flag} ]; do sleep 0.05; done`;
  const podSpec = {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'host', command: ['sh', '-c', script] }],
  };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once' },
    spec: { template: { spec: podSpec } },
  };
  await (await machine.client()).resource(jobs, 'default').create(job);
  await until('it runs', () => Promise.resolve(readOr(ran) !== ''), PATIENCE);
  await machine.down('SIGKILL');
  writeFileSync(flag, '');
  await until('it has ended', () => Promise.resolve(machine.processes().length === 0), PATIENCE);
  assert.match((await down(machine)).stdout, /1 pod ended/);
  assert.match((await down(machine)).stdout, /no pods either/, 'nothing of it is left to end');
  await machine.up('--nodes', '2');
  const { succeeded, failed } = await until(
    'it is over',
    async () => {
      const { status } = await (await machine.client()).resource(jobs, 'default').get('once');
      const counts = (status ?? {}) as { readonly succeeded?: number; readonly failed?: number };
      return (counts.succeeded ?? counts.failed) !== undefined && counts;
    },
    PATIENCE,
  );
  assert.deepEqual([succeeded, failed], [1, undefined]);
  assert.equal(readOr(ran), 'ran\n');
});

test('reeve down twice at once: one does it, the other waits and says for whom; interrupted, it says what to type', async (t) => {
  const machine = await begun(t, LONG_S);
  await machine.down('SIGKILL');
  const interrupted = spawn(process.execPath, [REEVE, 'down', '--data', machine.data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  interrupted.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('it is ending them', () => Promise.resolve(said.includes('Ending 2 pods')), PATIENCE);
  interrupted.kill('SIGINT');
  const code = await new Promise((resolve) => interrupted.once('close', resolve));
  assert.equal(code, 130);
  assert.match(said, new RegExp(`Pods may go on: .*reeve down --data ${machine.data}`));

  await machine.up('--nodes', '2');
  await running(machine);
  await machine.down('SIGKILL');
  const both = await Promise.all([down(machine), down(machine)]);
  const texts = both.map(({ stdout, stderr }) => stdout + stderr);
  assert.deepEqual(
    both.map((one) => one.code),
    [0, 0],
    texts.join('\n'),
  );
  assert.equal(texts.filter((text) => /Another `reeve down` \(process \d+\)/.test(text)).length, 1, texts.join('\n'));
  assert.equal(texts.filter((text) => /2 pods ended/.test(text)).length, 1, texts.join('\n'));
  assert.deepEqual(machine.processes(), []);
});
