/** Pods outlive the node that started them, and the next one takes them over. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configMaps } from '../kinds/config-map.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { parseIdentity } from '../shim/instance.ts';
import { COOKIE } from '../shim/runs.ts';
import { plainDriver } from '../driver/plain.ts';
import { RELOCATABLE } from './pod-keeper.ts';
import { eventually, isReady, NodeScene, type NodeScenarios } from './node-testing.ts';

const forever = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.05; done'];

export const adoptionScenarios: NodeScenarios = {
  async 'a node that comes back finds its pods: the same processes, and the exit codes of the meantime'(t) {
    const scene = await NodeScene.open(t);
    const flag = join(scene.folder, 'flag');
    const first = await scene.start();
    await scene.create('stays', { containers: [{ name: 'main', command: forever }] });
    await scene.create('ends', {
      restartPolicy: 'Never',
      containers: [{ name: 'main', command: ['sh', '-c', `while ! [ -e ${flag} ]; do sleep 0.02; done; exit 7`] }],
    });
    const before = await scene.ready('stays');
    const ending = await scene.ready('ends');
    const identity = await identityOf(scene, before.metadata.uid);
    assert.ok(identity);
    await first.stop();
    await writeFile(flag, '');
    const isOther = (pid: number) => scene.host.processes.environment(pid)?.[COOKIE]?.includes(ending.metadata.uid);
    await eventually(() => !scene.processes().some(isOther), 'the other one has ended');
    await scene.start();
    const ended = await scene.until('ends', ({ status }) => status?.phase === 'Failed', 'its end is known');
    const [status] = ended.status?.containerStatuses ?? [];
    assert.equal(status?.state?.terminated?.exitCode, 7);
    const after = await scene.ready('stays');
    assert.equal(await identityOf(scene, after.metadata.uid), identity);
    assert.equal(after.status?.podIP, before.status?.podIP);
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.deepEqual(after.status?.conditions, before.status?.conditions);
    await scene.delete('stays');
    await scene.gone('stays');
  },
  async 'a pod whose object vanished is ended by the node that comes back, and nothing is left of it'(t) {
    const scene = await NodeScene.open(t);
    const first = await scene.start();
    const pod = await scene.create('lost', { containers: [{ name: 'main', command: forever }] });
    await scene.ready('lost');
    await first.stop();
    await scene.delete('lost', 0);
    assert.ok(scene.processes().length > 0);
    await scene.start();
    await eventually(() => scene.processes().length === 0, 'no process is left');
    const pods = join(scene.folder, 'here', 'pods');
    await eventually(async () => !(await readdir(pods)).includes(pod.metadata.uid), 'its folder is gone');
  },
  async 'a successor of the same name begins after its predecessor has ended'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    const owner = join(scene.folder, 'owner');
    // Two at once would find each other alive.
    const look = `if read -r other <${owner} && kill -0 $other; then echo twice; exit 9; fi; echo $$ >${owner}`;
    const script = `${look}; trap "sleep 0.2; exit 0" TERM; while :; do sleep 0.02; done`;
    const containers = [{ name: 'main', command: ['sh', '-c', script] }];
    const one = await scene.create('same', { containers });
    await scene.ready('same');
    await scene.delete('same', 0);
    const two = await scene.create('same', { containers });
    assert.notEqual(one.metadata.uid, two.metadata.uid);
    const ready = await scene.ready('same');
    assert.equal(ready.metadata.uid, two.metadata.uid);
    assert.equal(ready.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.notEqual(ready.status?.podIP, undefined);
    assert.deepEqual(node.podKeys, ['default/same']);
  },
  async 'processes that left their group, and those of a pod nobody knows, are found by their cookie'(t) {
    const scene = await NodeScene.open(t);
    const first = await scene.start();
    const daemon = 'setsid sh -c "while :; do sleep 0.05; done" >/dev/null 2>&1 &';
    await scene.create('forks', { containers: [{ name: 'main', command: ['sh', '-c', `${daemon} ${forever[2]}`] }] });
    await scene.ready('forks');
    await eventually(() => scene.processes().length >= 3, 'the daemon is there');
    await scene.delete('forks');
    await scene.gone('forks');
    await eventually(() => scene.processes().length === 0, 'the daemon has ended');
    // One with a cookie of this node, and no record.
    await first.stop();
    const env = { PATH: '/usr/bin:/bin', [COOKIE]: `${join(scene.folder, 'here')}#nobody/main/0` };
    const orphan = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
    const ended = new Promise((resolve) => orphan.once('exit', resolve));
    await scene.start();
    await ended;
  },
  async 'a run that was written down and never began is begun once'(t) {
    const scene = await NodeScene.open(t);
    const first = await scene.start();
    const log = join(scene.folder, 'log');
    const containers = [{ name: 'main', command: ['sh', '-c', `echo begun >>${log}; ${forever[2]}`] }];
    const pod = await scene.create('once', { containers });
    await scene.ready('once');
    await first.stop();
    // As after a crash between the record and the start.
    const folder = join(scene.folder, 'here', 'pods', pod.metadata.uid, 'containers', 'main', '0');
    scene.killAll();
    await eventually(() => scene.processes().length === 0, 'all ended');
    for (const name of ['claim', 'main', 'exit', 'exit.new']) await rm(join(folder, name), { force: true });
    await scene.start();
    const ready = await scene.until(
      'once',
      ({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined && scene.processes().length > 0,
      'it runs',
    );
    assert.equal(ready.status?.containerStatuses?.[0]?.restartCount, 0);
  },
  async 'a machine that is put away: all pods end in their time, and begin anew with the next node'(t) {
    const scene = await NodeScene.open(t);
    let running = await scene.start();
    await scene.client.resource(configMaps, 'default').create({ metadata: { name: 'c' }, data: { a: '1' } });
    const volumes = [{ name: 'v', configMap: { name: 'c' } }];
    for (const name of ['a', 'b'])
      await scene.create(name, { volumes, containers: [{ name: 'main', command: forever }] });
    // What its init container made is in a folder that goes with it.
    const mount = {
      env: [{ name: 'DATA', value: '/srv/data' }],
      volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
    };
    await scene.create(
      'made',
      {
        volumes: [{ name: 'data', emptyDir: {} }],
        initContainers: [{ name: 'init', command: ['sh', '-c', 'echo made >"$DATA/made"'], ...mount }],
        containers: [
          { name: 'main', command: ['sh', '-c', `test -s "$DATA/made" || exit 9; ${forever[2]}`], ...mount },
        ],
      },
      { annotations: { [RELOCATABLE]: 'true' } },
    );
    const ran = join(scene.folder, 'ran');
    await scene.create('once', {
      restartPolicy: 'Never',
      initContainers: [{ name: 'init', command: ['sh', '-c', `echo init >>${ran}`] }],
      containers: [{ name: 'main', command: ['sh', '-c', `echo main >>${ran}; ${forever[2]}`] }],
    });
    await Promise.all(['a', 'b', 'made', 'once'].map((name) => scene.ready(name)));
    for (const times of [1, 2, 3]) {
      await running.stop();
      await running.node.endPods(new AbortController().signal);
      await eventually(() => scene.processes().length === 0, 'no process is left');
      running = await scene.start();
      for (const name of ['a', 'b', 'made']) {
        const isAgain = ({ status }: Pod) => status?.containerStatuses?.[0]?.restartCount === times;
        const pod = await scene.until(name, (one) => isAgain(one) && isReady(one), `${name} runs again`);
        assert.equal(pod.status?.phase, 'Running');
        for (const { restartCount } of pod.status?.initContainerStatuses ?? []) assert.equal(restartCount, times);
      }
    }
    const once = await scene.until('once', ({ status }) => status?.phase === 'Failed', 'it does not run twice');
    assert.equal(once.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'ContainerStatusUnknown');
    assert.equal(await readFile(ran, 'utf8'), 'init\nmain\n');
    // They have not failed: nothing holds them back, however often.
    const told = await scene.events();
    assert.deepEqual(
      told.filter((line) => line.startsWith('BackOff')),
      [],
    );
  },
  async 'what ended by itself before its machine was put away has ended so, whoever had heard of it'(t) {
    const scene = await NodeScene.open(t);
    const drivers = await scene.drivers();
    const flag = join(scene.folder, 'flag');
    const script = `while ! [ -e ${flag} ]; do sleep 0.02; done; exit`;
    const first = await scene.start({ drivers });
    for (const code of [0, 7]) {
      const containers = [{ name: 'main', command: ['sh', '-c', `${script} ${code}`] }];
      await scene.create(`ends-${code}`, { restartPolicy: 'Never', containers });
    }
    for (const code of [0, 7]) await scene.ready(`ends-${code}`);
    await first.stop();
    await writeFile(flag, '');
    await eventually(() => scene.processes().length === 0, 'they have ended');
    // As `reeve down` does it: a node that nobody runs, without a server.
    const away = await scene.openNode({ drivers, transport: () => Promise.reject(new Error('away')) });
    await away.endPods(new AbortController().signal);
    await scene.start({ drivers });
    const good = await scene.until('ends-0', ({ status }) => status?.phase === 'Succeeded', 'it has succeeded');
    const bad = await scene.until('ends-7', ({ status }) => status?.phase === 'Failed', 'it has failed');
    const ends = [good, bad].map(({ status }) => status?.containerStatuses?.[0]?.state?.terminated);
    assert.deepEqual(
      ends.map((end) => [end?.exitCode, end?.reason]),
      [
        [0, 'Completed'],
        [7, 'Error'],
      ],
    );
  },
  async 'a pod is probed, entered and asked to end also where its driver does not work any more'(t) {
    const scene = await NodeScene.open(t);
    const first = await scene.start({ drivers: await scene.drivers() });
    const [probes, asked] = [join(scene.folder, 'probes'), join(scene.folder, 'asked')];
    const probe = { exec: { command: ['sh', '-c', `test -e /srv/data/here && echo 1 >>${probes}`] }, periodSeconds: 1 };
    const script = `touch /srv/data/here; trap "touch ${asked}; exit 0" TERM; while :; do sleep 0.05; done`;
    const main = {
      name: 'main',
      command: ['sh', '-c', script],
      volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
      readinessProbe: probe,
      livenessProbe: { ...probe, failureThreshold: 1, initialDelaySeconds: 1 },
    };
    const annotations = { [RELOCATABLE]: 'true' };
    await scene.create('boxed', { volumes: [{ name: 'data', emptyDir: {} }], containers: [main] }, { annotations });
    const before = await scene.ready('boxed');
    await first.stop();
    const count = async () => (await readFile(probes, 'utf8')).length;
    const known = await count();
    const { node } = await scene.start({ drivers: [plainDriver] });
    await eventually(async () => (await count()) >= known + 4, 'it is probed');
    const place = { namespace: 'default', pod: 'boxed' };
    const { signal } = new AbortController();
    const { code, stdout } = await node.exec(place, ['ls', '/srv/data'], { signal });
    assert.deepEqual([code, stdout], [0, 'here\n']);
    const after = await scene.ready('boxed');
    const idOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.containerID;
    assert.equal(idOf(after), idOf(before));
    await scene.delete('boxed');
    await scene.gone('boxed');
    assert.equal(await readFile(asked, 'utf8'), '');
  },
  async 'a pod that cannot be moved does not run again where its driver does not work any more, until it does'(t) {
    const scene = await NodeScene.open(t);
    const drivers = await scene.drivers();
    const first = await scene.start({ drivers });
    const [log, flag] = [join(scene.folder, 'log'), join(scene.folder, 'flag')];
    const script = `echo begun >>${log}; while ! [ -e ${flag} ]; do sleep 0.02; done`;
    const volumeMounts = [{ name: 'data', mountPath: '/srv/data' }];
    const volumes = [{ name: 'data', emptyDir: {} }];
    await scene.create('fixed', {
      volumes,
      containers: [{ name: 'main', command: ['sh', '-c', script], volumeMounts }],
    });
    await scene.ready('fixed');
    await first.stop();
    await writeFile(flag, '');
    const second = await scene.start({ drivers: [plainDriver] });
    const waitingOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;
    const isRefused = (pod: Pod) => waitingOf(pod)?.reason === 'SandboxUnavailable';
    const refused = await scene.until('fixed', isRefused, 'it waits');
    assert.match(waitingOf(refused)?.message ?? '', /relocatable/);
    assert.equal(await readFile(log, 'utf8'), 'begun\n');
    await second.stop();
    await rm(flag);
    await scene.start({ drivers });
    const again = await scene.ready('fixed');
    assert.equal(again.status?.containerStatuses?.[0]?.restartCount, 1);
  },
  async 'a run whose folder somebody took away is ended before another one begins'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    const pod = await scene.create('robbed', { containers: [{ name: 'main', command: forever }] });
    await scene.ready('robbed');
    const before = scene.processes();
    await rm(join(scene.folder, 'here', 'pods', pod.metadata.uid, 'containers', 'main', '0'), { recursive: true });
    const value = { metadata: { labels: { look: 'now' } } };
    await scene.client.resource(pods, 'default').patch('robbed', { type: 'merge', value });
    const after = await scene.until(
      'robbed',
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1 && status.containerStatuses[0].ready,
      'it runs again',
    );
    assert.equal(after.status?.containerStatuses?.[0]?.lastState?.terminated?.reason, 'ContainerStatusUnknown');
    const left = scene.processes().filter((pid) => before.includes(pid));
    assert.deepEqual(left, []);
  },
};

/** Who runs, as the shim wrote it down, if both are there. */
async function identityOf(scene: NodeScene, uid: string): Promise<string | undefined> {
  const path = join(scene.folder, 'here', 'pods', uid, 'containers', 'main', '0', 'main');
  const identity = parseIdentity(await readFile(path, 'utf8'), 0);
  const isThere = [identity?.main, identity?.shim].every(
    (id) => id && scene.host.processes.find(id.pid)?.startTime === id.startTime,
  );
  return isThere ? JSON.stringify(identity) : undefined;
}
