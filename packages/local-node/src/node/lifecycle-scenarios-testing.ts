/** What becomes of containers: ends, restarts, hooks, probes, sidecars, deadlines. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pods } from '../kinds/pod.ts';
import { eventually, NodeScene, type NodeScenarios } from './node-testing.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
const sh = (script: string) => ['sh', '-c', script];
const quick = { firstMs: 50, mostMs: 100, resetMs: 600_000 };

export const lifecycleScenarios: NodeScenarios = {
  async 'init containers, a sidecar and main containers run in order, and end in order'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const log = join(scene.folder, 'log');
    const noting = (name: string) =>
      sh(`echo ${name} up >>${log}; trap "echo ${name} down >>${log}; exit 0" TERM; while :; do sleep 0.02; done`);
    await scene.create('ordered', {
      initContainers: [
        { name: 'first', command: sh(`echo first >>${log}`) },
        { name: 'sidecar', restartPolicy: 'Always', command: noting('sidecar') },
        { name: 'second', command: sh(`echo second >>${log}`) },
      ],
      containers: [{ name: 'main', command: noting('main') }],
    });
    const pod = await scene.ready('ordered');
    const inits = pod.status?.initContainerStatuses ?? [];
    assert.deepEqual(
      inits.map(({ state, ready }) => [state?.terminated?.reason ?? 'running', ready]),
      [
        ['Completed', true],
        ['running', true],
        ['Completed', true],
      ],
    );
    await eventually(async () => (await readFile(log, 'utf8')).includes('main up'), 'main has begun');
    await scene.delete('ordered');
    await scene.gone('ordered');
    assert.deepEqual((await readFile(log, 'utf8')).trim().split('\n'), [
      'first',
      'sidecar up',
      'second',
      'main up',
      'main down',
      'sidecar down',
    ]);
  },
  async 'a container that ends runs again, waits longer each time, and says how it ended'(t) {
    const scene = await NodeScene.open(t);
    await scene.start({ backoff: { ...quick, firstMs: 60_000, mostMs: 60_000 } });
    await scene.create('crashes', { containers: [{ name: 'main', command: sh('echo no; exit 3') }] });
    const pod = await scene.until(
      'crashes',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      'it waits',
    );
    const [status] = pod.status?.containerStatuses ?? [];
    assert.equal(status?.restartCount, 1);
    assert.equal(status?.lastState?.terminated?.exitCode, 3);
    assert.equal(status?.lastState?.terminated?.reason, 'Error');
    assert.equal(pod.status?.phase, 'Running');
    const told = `BackOff: Back-off restarting failed container main in pod crashes_default(${pod.metadata.uid})`;
    await eventually(async () => (await scene.events()).includes(told), 'an event says so');
    await scene.delete('crashes');
    await scene.gone('crashes');
  },
  async 'a pod that is to run once succeeds or fails, and is not run again'(t) {
    const scene = await NodeScene.open(t);
    const first = await scene.start({ backoff: quick });
    const counter = join(scene.folder, 'runs');
    await scene.create('good', {
      restartPolicy: 'Never',
      containers: [{ name: 'main', command: sh(`echo x >>${counter}`) }],
    });
    await scene.create('bad', { restartPolicy: 'Never', containers: [{ name: 'main', command: sh('exit 4') }] });
    // Fails twice, then succeeds.
    const again = `echo x >>${counter}.again; [ $(wc -l <${counter}.again) -ge 3 ]`;
    await scene.create('again', { restartPolicy: 'OnFailure', containers: [{ name: 'main', command: sh(again) }] });
    await scene.until('good', ({ status }) => status?.phase === 'Succeeded', 'good succeeds');
    await scene.until('bad', ({ status }) => status?.phase === 'Failed', 'bad fails');
    const third = await scene.until('again', ({ status }) => status?.phase === 'Succeeded', 'again succeeds');
    assert.equal(third.status?.containerStatuses?.[0]?.restartCount, 2);
    await first.stop();
    await scene.start({ backoff: quick });
    await scene.delete('bad');
    await scene.gone('bad'); // the new node has worked by now
    assert.equal(await readFile(counter, 'utf8'), 'x\n');
  },
  async 'whoever ignores SIGTERM is killed after its time, with all that it started'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const stubborn = 'trap "" TERM; (while :; do sleep 0.02; done) & while :; do sleep 0.02; done';
    await scene.create('stubborn', {
      terminationGracePeriodSeconds: 1,
      initContainers: [{ name: 'unasked', restartPolicy: 'Always', command: sh(stubborn) }],
      containers: [{ name: 'main', command: sh(stubborn) }],
    });
    await scene.ready('stubborn');
    await scene.delete('stubborn');
    await scene.gone('stubborn');
    await eventually(() => scene.processes().length === 0, 'no process is left');
    const told = 'ExceededGracePeriod: Container main had not ended 1s after it was asked to, and was killed';
    await eventually(async () => (await scene.events()).includes(told), 'an event says so');
    assert.doesNotMatch((await scene.events()).join('\n'), /ExceededGracePeriod: Container unasked/);
  },
  async 'hooks run after the start and before the end'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const log = join(scene.folder, 'log');
    await scene.create('hooked', {
      containers: [
        {
          name: 'main',
          command: sh(`trap "echo term >>${log}; exit 0" TERM; while :; do sleep 0.02; done`),
          lifecycle: {
            postStart: { exec: { command: sh(`echo post $HOSTNAME >>${log}`) } },
            preStop: { exec: { command: sh(`sleep 0.1; echo pre >>${log}`) } },
          },
        },
      ],
    });
    await scene.ready('hooked');
    await scene.delete('hooked');
    await scene.gone('hooked');
    assert.deepEqual((await readFile(log, 'utf8')).trim().split('\n'), ['post hooked', 'pre', 'term']);
  },
  async 'probes: not ready until it answers, restarted when it is not alive'(t) {
    const scene = await NodeScene.open(t);
    await scene.start({ backoff: quick });
    const well = join(scene.folder, 'well');
    const ready = join(scene.folder, 'ready');
    await writeFile(well, '');
    const every = { periodSeconds: 1, failureThreshold: 1 };
    await scene.create('probed', {
      containers: [
        {
          name: 'main',
          command: sh(forever),
          readinessProbe: { ...every, exec: { command: ['test', '-e', ready] } },
          livenessProbe: { ...every, exec: { command: ['test', '-e', well] } },
        },
      ],
    });
    const up = await scene.until('probed', ({ status }) => status?.phase === 'Running', 'it runs');
    assert.equal(up.status?.containerStatuses?.[0]?.ready, false);
    await writeFile(ready, '');
    await scene.ready('probed');
    await rm(well);
    const restarted = await scene.until(
      'probed',
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
      'it is restarted',
    );
    assert.equal(restarted.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 0);
  },
  async 'a pod that is active for too long fails'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    await scene.create('late', { activeDeadlineSeconds: 1, containers: [{ name: 'main', command: sh(forever) }] });
    const pod = await scene.until('late', ({ status }) => status?.phase === 'Failed', 'it fails');
    assert.equal(pod.status?.reason, 'DeadlineExceeded');
    await eventually(() => scene.processes().length === 0, 'no process is left');
  },
  async 'another image means another run of this container, and of no other'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const containers = [
      { name: 'data', command: sh(forever) },
      { name: 'agent', command: sh(forever) },
    ];
    const pod = await scene.create('patched', { containers });
    await scene.ready('patched');
    const value = [{ op: 'replace', path: '/spec/containers/1/image', value: 'host:2' }] as const;
    await scene.client.resource(pods, 'default').patch('patched', { type: 'json', value });
    const after = await scene.until(
      'patched',
      ({ status }) => status?.containerStatuses?.[1]?.restartCount === 1 && status.containerStatuses[1].ready,
      'the agent runs again',
    );
    assert.equal(after.metadata.uid, pod.metadata.uid);
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
  },
  async 'a pod that somebody holds on to ends, and stays until he lets go'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    await scene.create(
      'held',
      { containers: [{ name: 'main', command: sh(forever) }] },
      { finalizers: ['x.dev/held'] },
    );
    await scene.ready('held');
    await scene.delete('held');
    await scene.until('held', ({ status }) => status?.phase === 'Succeeded', 'it has ended');
    await eventually(() => scene.processes().length === 0, 'no process is left');
    await scene.client
      .resource(pods, 'default')
      .patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
    await scene.gone('held');
  },
  async 'an image that nobody knows is said so'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    await scene.create('imageless', { containers: [{ name: 'main', image: 'valkey:9' }] });
    const pod = await scene.until(
      'imageless',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImagePull',
      'it waits',
    );
    assert.equal(pod.status?.phase, 'Pending');
    assert.match(pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /valkey:9/);
    await scene.delete('imageless');
    await scene.gone('imageless');
  },
  async 'a program that is not there ends with 127 and says so in its log'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    await scene.create('missing', {
      restartPolicy: 'Never',
      containers: [{ name: 'main', command: ['no-such-program'] }],
    });
    const pod = await scene.until('missing', ({ status }) => status?.phase === 'Failed', 'it fails');
    // 126 where a folder of PATH may not be looked into.
    assert.match(String(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode), /^12[67]$/);
    let text = '';
    const { signal } = new AbortController();
    for await (const chunk of node.logs({ namespace: 'default', pod: 'missing' }, { signal }))
      text += Buffer.from(chunk).toString();
    assert.match(text, /no-such-program/);
  },
  async 'how a program ended is not in its log'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    await scene.create('killed', {
      restartPolicy: 'Never',
      containers: [{ name: 'main', command: sh('echo said >&2; kill -9 $$$$') }],
    });
    const pod = await scene.until('killed', ({ status }) => status?.phase === 'Failed', 'it ends');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 137);
    assert.equal(await scene.logOf(node, 'killed'), 'said\n');
  },
  async 'a program may say by its log why it failed'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const main = {
      name: 'main',
      terminationMessagePolicy: 'FallbackToLogsOnError',
      command: sh('echo no disk; exit 4'),
    };
    await scene.create('tells', { restartPolicy: 'Never', containers: [main] });
    const pod = await scene.until('tells', ({ status }) => status?.phase === 'Failed', 'it fails');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.message, 'no disk\n');
  },
  async 'a container that the machine cannot begin is said so, and others go on'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    // Longer than the kernel takes for one variable.
    const env = [{ name: 'LARGE', value: 'x'.repeat(200_000) }];
    await scene.create('large', { containers: [{ name: 'main', command: sh(forever), env }] });
    await scene.create('small', { containers: [{ name: 'main', command: sh(forever) }] });
    const pod = await scene.until(
      'large',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'RunContainerError',
      'it says so',
    );
    assert.match(pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /E2BIG/);
    await scene.ready('small');
    await scene.delete('large');
    await scene.gone('large');
  },
  async 'a pod that forks without end and ignores SIGTERM goes with all that it started'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const script = 'trap "" TERM; while :; do setsid sh -c "trap "" TERM; sleep 30 & sleep 30" & sleep 0.02; done';
    await scene.create('forks', {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', command: sh(script) }],
    });
    await scene.ready('forks');
    await eventually(() => scene.processes().length > 20, 'they are many');
    await scene.delete('forks');
    await scene.gone('forks');
    assert.deepEqual(scene.processes(), []);
  },
  async 'logs: the end of them, as they come, and those of the run before'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start({ backoff: { ...quick, firstMs: 60_000 } });
    const flag = join(scene.folder, 'flag');
    const script = `echo one; echo two >&2; while ! [ -e ${flag} ]; do sleep 0.02; done; echo three; exit 1`;
    await scene.create('talks', { containers: [{ name: 'main', command: sh(script) }] });
    await scene.ready('talks');
    const { signal } = new AbortController();
    const read = async (previous: boolean, options: { tailLines?: number; follow?: boolean }) => {
      const chunks: Uint8Array[] = [];
      const at = { namespace: 'default', pod: 'talks', previous };
      for await (const chunk of node.logs(at, { signal, ...options })) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    };
    await eventually(async () => (await read(false, {})) === 'one\ntwo\n', 'it has spoken');
    assert.equal(await read(false, { tailLines: 1 }), 'two\n');
    const following = read(false, { follow: true });
    await writeFile(flag, '');
    assert.equal(await following, 'one\ntwo\nthree\n');
    await eventually(
      async () => (await read(true, {}).catch(() => '')) === 'one\ntwo\nthree\n',
      'the first run is the earlier one',
    );
  },
  async 'commands run in the environment of the container'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    await scene.create('open', {
      containers: [{ name: 'main', command: sh(forever), env: [{ name: 'WORD', value: 'hello' }] }],
    });
    const pod = await scene.ready('open');
    const { signal } = new AbortController();
    const at = { namespace: 'default', pod: 'open' };
    const result = await node.exec(at, sh('cat; echo $WORD $POD_IP; echo oh >&2; exit 5'), { signal, input: 'in ' });
    assert.deepEqual(result, { code: 5, stdout: `in hello ${pod.status?.podIP}\n`, stderr: 'oh\n' });
    await assert.rejects(node.exec({ ...at, pod: 'no' }, ['true'], { signal }), { code: 'NODE_NO_SUCH' });
  },
  async 'a program that listens on all addresses is ended, and told how to do better'(t) {
    const scene = await NodeScene.open(t);
    await scene.start({ backoff: { ...quick, firstMs: 60_000, mostMs: 60_000 } });
    const listen = (address: string) => [
      process.execPath,
      '-e',
      `require('node:net').createServer().listen(0, ${address}); process.on('SIGTERM', () => process.exit(0))`,
    ];
    await scene.create('wild', { containers: [{ name: 'main', command: listen("'0.0.0.0'") }] });
    await scene.create('tame', { containers: [{ name: 'main', command: listen('process.env.POD_IP') }] });
    await scene.until('wild', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0, 'it was ended');
    const tame = await scene.ready('tame');
    assert.equal(tame.status?.containerStatuses?.[0]?.restartCount, 0);
    const said = await eventually(
      async () => (await scene.events()).find((line) => line.startsWith('WildcardListener')),
      'an event says so',
    );
    assert.match(said, /POD_IP/);
  },
  async 'a service of datagrams on all addresses is ended, who only sends some is not'(t) {
    const scene = await NodeScene.open(t);
    await scene.start({ backoff: { ...quick, firstMs: 60_000, mostMs: 60_000 } });
    const port = await chosenPort();
    const program = (bind: string) =>
      `const s = require('node:dgram').createSocket('udp4'); ${bind}; process.on('SIGTERM', () => process.exit(0))`;
    const run = (bind: string) => ({
      containers: [{ name: 'main', command: [process.execPath, '-e', program(bind)] }],
    });
    await scene.create('sends', run("setInterval(() => s.send('x', 9, process.env.POD_IP), 100)"));
    await scene.create('tame', run(`s.bind(${port + 1}, process.env.POD_IP)`));
    await scene.ready('sends');
    await scene.ready('tame');
    await scene.create('wild', run(`s.bind({ port: ${port} })`));
    await scene.until('wild', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0, 'it was ended');
    const said = await eventually(
      async () => (await scene.events()).find((line) => line.startsWith('WildcardListener')),
      'an event says so',
    );
    assert.match(said, new RegExp(`port ${port} \\(UDP\\)`));
    for (const name of ['sends', 'tame'])
      assert.equal((await scene.ready(name)).status?.containerStatuses?.[0]?.restartCount, 0, name);
  },
};

/** Free for datagrams, with the next one, and none that the kernel would choose. */
async function chosenPort(): Promise<number> {
  for (let port = 20_000; ; port += 2) {
    const sockets = [createSocket('udp4'), createSocket('udp4')];
    try {
      for (const [at, socket] of sockets.entries()) {
        socket.bind(port + at);
        await once(socket, 'listening');
      }
      return port;
    } catch {
      // somebody has it
    } finally {
      for (const socket of sockets) socket.close();
    }
  }
}
