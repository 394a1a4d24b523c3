/** Containers in their boxes, with the best driver of this machine: order, probes, hooks, last words, and what people get wrong. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { LocalNodeOptions } from './local-node.ts';
import type { PodContainer } from '../pod/progress.ts';
import { eventually, isReady, NodeScene, type NodeScenarios } from './node-testing.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
const sh = (script: string) => ['sh', '-c', script];
const quick = { firstMs: 50, mostMs: 100, resetMs: 600_000 };
const slow = { firstMs: 60_000, mostMs: 60_000, resetMs: 600_000 };

async function stage(t: TestContext, options: Partial<LocalNodeOptions> = {}) {
  const scene = await NodeScene.open(t);
  const { node } = await scene.start({ drivers: await scene.drivers(), ...options });
  return { scene, node };
}

/** A program in this process's own language. `P` is the pod's address. */
const program = (script: string) => [
  process.execPath,
  '-e',
  `const P = process.env.POD_IP; process.on('SIGTERM', () => process.exit(0)); ${script}`,
];

export const containerScenarios: NodeScenarios = {
  async 'an init container that fails is tried again, and nothing else begins before it'(t) {
    const { scene } = await stage(t, { backoff: quick });
    const [flag, log] = [join(scene.folder, 'flag'), join(scene.folder, 'log')];
    await scene.create('inits', {
      initContainers: [
        { name: 'first', command: sh(`echo first >>${log}; [ -e ${flag} ]`) },
        { name: 'second', command: sh(`echo second >>${log}`) },
      ],
      containers: [{ name: 'main', command: sh(`echo main >>${log}; ${forever}`) }],
    });
    const isFailing = await scene.until(
      'inits',
      ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 2,
      'it fails again and again',
    );
    assert.equal(isFailing.status?.phase, 'Pending');
    assert.equal(isFailing.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'PodInitializing');
    const initialized = isFailing.status?.conditions?.find(({ type }) => type === 'Initialized');
    assert.equal(initialized?.message, 'containers with incomplete status: [first second]');
    assert.ok(!(await readFile(log, 'utf8')).includes('second'));
    await writeFile(flag, '');
    await scene.ready('inits');
    await eventually(async () => (await readFile(log, 'utf8')).endsWith('first\nsecond\nmain\n'), 'all in order');
  },
  async 'an init container that fails for good fails the pod'(t) {
    const { scene } = await stage(t);
    await scene.create('never', {
      restartPolicy: 'Never',
      initContainers: [{ name: 'first', command: sh('exit 5') }],
      containers: [{ name: 'main', command: sh(forever) }],
    });
    const pod = await scene.until('never', ({ status }) => status?.phase === 'Failed', 'it fails');
    assert.equal(pod.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 5);
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'PodInitializing');
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
  },
  async 'a sidecar is started again while it serves, and ends when there is nobody left to serve'(t) {
    const { scene } = await stage(t, { backoff: quick });
    const [flag, log] = [join(scene.folder, 'flag'), join(scene.folder, 'log')];
    await scene.create('served', {
      restartPolicy: 'Never',
      initContainers: [
        {
          name: 'sidecar',
          restartPolicy: 'Always',
          command: sh(
            `echo up >>${log}; [ $(grep -c up ${log}) -ge 2 ] || exit 1; trap "echo down >>${log}; exit 0" TERM; while :; do sleep 0.02; done`,
          ),
        },
      ],
      containers: [{ name: 'main', command: sh(`while ! [ -e ${flag} ]; do sleep 0.02; done`) }],
    });
    await scene.until(
      'served',
      ({ status }) => status?.initContainerStatuses?.[0]?.restartCount === 1 && status.phase === 'Running',
      'it was started again',
    );
    await writeFile(flag, '');
    const pod = await scene.until('served', ({ status }) => status?.phase === 'Succeeded', 'the pod succeeds');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
    assert.equal(await readFile(log, 'utf8'), 'up\nup\ndown\n');
  },
  async 'while a startup probe fails, no other is asked'(t) {
    const { scene } = await stage(t);
    const [flag, log] = [join(scene.folder, 'flag'), join(scene.folder, 'log')];
    const asking = (name: string, more = 'true') => ({ exec: { command: sh(`echo ${name} >>${log}; ${more}`) } });
    await scene.create('starts', {
      containers: [
        {
          name: 'main',
          command: sh(forever),
          startupProbe: { ...asking('startup', `[ -e ${flag} ]`), periodSeconds: 1, failureThreshold: 100 },
          readinessProbe: { ...asking('readiness'), periodSeconds: 1 },
          livenessProbe: { ...asking('liveness'), periodSeconds: 1 },
        },
      ],
    });
    await eventually(async () => (await readFile(log, 'utf8').catch(() => '')).length > 16, 'it was asked often');
    const before = await readFile(log, 'utf8');
    assert.ok(!/readiness|liveness/.test(before), before);
    const waiting = await scene.find('starts');
    assert.equal(waiting?.status?.containerStatuses?.[0]?.started, false);
    await writeFile(flag, '');
    const pod = await scene.ready('starts');
    assert.equal(pod.status?.containerStatuses?.[0]?.started, true);
    await eventually(async () => /liveness/.test(await readFile(log, 'utf8')), 'the others are asked');
  },
  async 'a container that never starts up is started anew'(t) {
    const { scene } = await stage(t, { backoff: slow });
    await scene.create('never-up', {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          command: sh(forever),
          startupProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 },
        },
      ],
    });
    await scene.until(
      'never-up',
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) === 1,
      'it was started anew',
    );
    const said = await scene.events();
    assert.ok(said.includes('Killing: Container main failed startup probe, will be restarted'), said.join('\n'));
    assert.ok(
      said.some((line) => line.startsWith('Unhealthy: Startup probe failed')),
      said.join('\n'),
    );
  },
  async 'probes by HTTP, by connection and by gRPC ask the pod at its own address'(t) {
    const { scene } = await stage(t, { backoff: slow });
    const serving = [0, 0, 0, 0, 2, 8, 1].join();
    const script = `
      require('http').createServer((q, s) => { s.statusCode = q.url === '/well' ? 204 : 500; s.end(); }).listen(8080, P);
      require('http2').createServer().on('stream', (s) => {
        s.respond({ ':status': 200 }, { waitForTrailers: true });
        s.once('wantTrailers', () => s.sendTrailers({ 'grpc-status': '0' }));
        s.end(Buffer.from([${serving}]));
      }).listen(8081, P);`;
    const ports = [{ name: 'web', containerPort: 8080 }];
    const of = (name: string, path: string) =>
      scene.create(name, {
        containers: [
          {
            name: 'main',
            command: program(script),
            ports,
            startupProbe: { tcpSocket: { port: 'web' }, periodSeconds: 1, failureThreshold: 20 },
            readinessProbe: { httpGet: { port: 'web', path }, periodSeconds: 1 },
            livenessProbe: { grpc: { port: 8081 }, periodSeconds: 1 },
          },
        ],
      });
    await of('well', '/well');
    await of('sick', '/sick'); // the same ports, another address
    await scene.ready('well');
    const isAsked = (line: string) =>
      line === 'Unhealthy: Readiness probe failed for container main: HTTP probe failed with statuscode: 500';
    await eventually(async () => (await scene.events()).some(isAsked), 'the other one says no');
    const sick = await scene.find('sick');
    assert.equal(sick && isReady(sick), false);
    assert.equal(sick?.status?.containerStatuses?.[0]?.started, true);
    assert.equal((await scene.find('well'))?.status?.containerStatuses?.[0]?.restartCount, 0);
  },
  async 'a hook before the end has the time of the pod, and no more'(t) {
    const { scene } = await stage(t);
    const log = join(scene.folder, 'log');
    await scene.create('hooked', {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          command: sh(`trap "echo term >>${log}" TERM; while :; do sleep 0.02; done`),
          lifecycle: { preStop: { exec: { command: sh(`echo hook >>${log}; sleep 1000`) } } },
        },
      ],
    });
    await scene.ready('hooked');
    await scene.delete('hooked');
    await scene.gone('hooked');
    assert.equal(await readFile(log, 'utf8'), 'hook\n', 'there was no time left to ask it');
    assert.deepEqual(scene.processes(), []);
  },
  async 'a program says why it ended, in a file or by the end of its log'(t) {
    const { scene } = await stage(t, { backoff: slow });
    const once = { restartPolicy: 'Never' } as const;
    const path = '/dev/termination-log';
    const tell = sh(`echo said >${path}; echo log; exit 3`);
    await scene.create('file', { ...once, containers: [{ name: 'main', command: tell }] });
    const own = { terminationMessagePath: '/srv/reeve/last-words' };
    const many = sh('head -c 9000 /dev/zero | tr "\\0" x >$WHERE; printf end >>$WHERE; exit 0');
    const env = [{ name: 'WHERE', value: own.terminationMessagePath }];
    await scene.create('bounded', { ...once, containers: [{ name: 'main', command: many, env, ...own }] });
    const falling = { terminationMessagePolicy: 'FallbackToLogsOnError' };
    const shout = sh('for i in $(seq 200); do echo line $i; done; exit 4');
    await scene.create('log', { ...once, containers: [{ name: 'main', command: shout, ...falling }] });
    await scene.create('silent', { ...once, containers: [{ name: 'main', command: sh('echo no; exit 4') }] });
    // Again: what it said the last time is in its last state.
    await scene.create('again', { containers: [{ name: 'main', command: sh(`echo first >${path}; exit 1`) }] });
    const lastWords = async (name: string) => {
      const pod = await scene.until(name, ({ status }) => /Succeeded|Failed/.test(status?.phase ?? ''), `${name} ends`);
      return pod.status?.containerStatuses?.[0]?.state?.terminated?.message;
    };
    assert.equal(await lastWords('file'), 'said\n');
    const bounded = (await lastWords('bounded')) ?? '';
    assert.equal(bounded.length, 4_096);
    assert.ok(bounded.endsWith('xend'));
    const log = (await lastWords('log')) ?? '';
    assert.deepEqual(
      [log.split('\n').length, log.startsWith('line 121\n'), log.endsWith('line 200\n')],
      [81, true, true],
    );
    assert.equal(await lastWords('silent'), undefined);
    const again = await scene.until(
      'again',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      'it waits',
    );
    assert.equal(again.status?.containerStatuses?.[0]?.lastState?.terminated?.message, 'first\n');
  },
  async 'an image that nobody knows is said so, and asked for ever more seldom'(t) {
    const { scene } = await stage(t);
    await scene.create('unknown', { containers: [{ name: 'main', image: 'no-such-thing:1', command: ['true'] }] });
    const pod = await scene.until(
      'unknown',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImagePull',
      'it says so',
    );
    assert.equal(pod.status?.phase, 'Pending');
    assert.match(
      pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
      /"no-such-thing:1" is not known here/,
    );
    assert.ok((await scene.events()).some((line) => line.startsWith('Failed: Failed to pull image "no-such-thing:1"')));
    await scene.delete('unknown');
    await scene.gone('unknown');
  },
  async 'a container without a command says so, and its neighbours run'(t) {
    const { scene } = await stage(t);
    await scene.create('half', {
      containers: [{ name: 'empty' }, { name: 'main', command: sh(forever) }],
    });
    const pod = await scene.until(
      'half',
      ({ status }) =>
        status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError' &&
        status.containerStatuses[1]?.ready === true,
      'one says so, the other runs',
    );
    assert.match(pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /no command specified/);
  },
  async 'whoever forked twice and left its session ends with its pod'(t) {
    const { scene } = await stage(t);
    const daemon =
      'setsid sh -c "setsid sleep 1000 & exit" & setsid -f sh -c "trap : TERM HUP; while :; do sleep 1; done"';
    await scene.create('daemons', {
      restartPolicy: 'Never',
      containers: [{ name: 'main', command: sh(`${daemon}; sleep 0.1; exit 0`) }],
    });
    await scene.until('daemons', ({ status }) => status?.phase === 'Succeeded', 'it has ended');
    await eventually(() => scene.processes().length === 0, 'so have its children');
  },
  async 'a pod may mount over the very place in which its node lives'(t) {
    const { scene, node } = await stage(t);
    const mountPath = dirname(scene.folder);
    await scene.create(
      'hides',
      {
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [
          {
            name: 'main',
            workingDir: '/',
            command: sh(`echo kept >${mountPath}/x; ls ${mountPath}; ${forever}`),
            volumeMounts: [{ name: 'v', mountPath }],
          },
        ],
      },
      { annotations: { 'reeve.dev/relocatable': 'true' } },
    );
    await scene.ready('hides');
    await eventually(async () => (await scene.logOf(node, 'hides')) === 'x\n', 'it sees its own file, and no other');
  },
  async 'a pod is told about itself'(t) {
    const { scene, node } = await stage(t);
    const from = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
    const limit = { valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } };
    const env = [
      { name: 'NAME', ...from('metadata.name') },
      { name: 'SPACE', ...from('metadata.namespace') },
      { name: 'TEAM', ...from("metadata.labels['team']") },
      { name: 'NODE', ...from('spec.nodeName') },
      { name: 'IP', ...from('status.podIP') },
      { name: 'CPU', ...limit },
      { name: 'ALL', value: '$(NAME)-$(TEAM)' },
    ];
    const command = sh(`echo $NAME $SPACE $TEAM $NODE $IP $CPU $ALL $HOSTNAME; ${forever}`);
    const resources = { limits: { cpu: '250m' } };
    await scene.create('told', { containers: [{ name: 'main', command, env, resources }] }, { labels: { team: 'a' } });
    const pod = await scene.ready('told');
    const expected = `told default a here ${pod.status?.podIP} 250 told-a told\n`;
    await eventually(async () => (await scene.logOf(node, 'told')) === expected, 'it knows all that');
  },
  async 'a container is asked to end by the signal that it names'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const log = join(scene.folder, 'signals');
    const command = sh(
      `trap "echo usr1 >>${log}; exit 0" USR1; trap "echo term >>${log}" TERM; while :; do sleep 0.02; done`,
    );
    await scene.create('named', { containers: [{ name: 'main', command, lifecycle: { stopSignal: 'SIGUSR1' } }] });
    await scene.ready('named');
    await scene.delete('named');
    await scene.gone('named');
    assert.equal(await readFile(log, 'utf8'), 'usr1\n');
  },
  async 'fields that this node does not honour are named by an event'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const volumes = [{ name: 'small', emptyDir: { sizeLimit: '1Mi' } }];
    await scene.create('asks', {
      shareProcessNamespace: true,
      volumes,
      containers: [{ name: 'main', command: sh(forever) }],
    });
    await scene.create('content', { containers: [{ name: 'main', command: sh(forever) }] });
    await scene.ready('asks');
    await scene.ready('content');
    const fields = 'spec.shareProcessNamespace, spec.volumes[small].emptyDir.sizeLimit';
    const said = `NotHonoured: This node runs the pod without regard to ${fields}`;
    await eventually(async () => (await scene.events()).includes(said), 'an event says so');
    assert.equal((await scene.events()).filter((line) => line.startsWith('NotHonoured')).length, 1);
  },
  async 'each container has its own events, also of those that differ in a number only'(t) {
    const { scene } = await stage(t, { backoff: slow });
    const of = (name: string) => ({ name, command: sh(forever) });
    const sick = { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 } };
    const [i1, i2] = [1, 2].map((n) => ({ name: `i${n}`, command: ['true'] }));
    const mains = [
      { ...of('c1'), ...sick },
      { ...of('c2'), ...sick },
      { ...of('c3'), image: 'no-such-thing1:1' },
    ];
    await scene.create('several', {
      initContainers: [i1, i2] as PodContainer[],
      containers: [...mains, { ...of('c4'), image: 'no-such-thing2:1' }],
    });
    const expected = [
      ...['i1', 'i2', 'c1', 'c2'].map((name) => `Started: Started container ${name}`),
      ...['c1', 'c2'].map((name) => `Unhealthy: Readiness probe failed for container ${name}: `),
      ...[1, 2].map((n) => `Failed: Failed to pull image "no-such-thing${n}:1"`),
    ];
    const missing = async () => {
      const said = await scene.events();
      return expected.filter((begin) => said.filter((line) => line.startsWith(begin)).length !== 1);
    };
    await eventually(async () => (await missing()).length === 0, 'each is told, once');
  },
};
