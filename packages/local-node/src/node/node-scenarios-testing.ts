/** The whole path on this machine: an object in the API, a process, and back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { leases } from '@reeve/runtime/manager';
import { nodes } from '../kinds/node.ts';
import { eventually, NodeScene, type NodeScenarios } from './node-testing.ts';

export const nodeScenarios: NodeScenarios = {
  async 'a pod becomes a process with an address of its own, and goes gracefully'(t) {
    const scene = await NodeScene.open(t);
    await scene.start();
    await scene.create('one', {
      containers: [
        { name: 'main', command: ['sh', '-c', 'trap "exit 0" TERM; echo up $POD_IP; while :; do sleep 0.05; done'] },
      ],
    });
    const pod = await scene.ready('one');
    assert.equal(pod.status?.phase, 'Running');
    assert.match(pod.status?.podIP ?? '', /^127\.\d+\.\d+\.\d+$/);
    assert.notEqual(pod.status?.podIP, '127.0.0.1');
    const [status] = pod.status?.containerStatuses ?? [];
    assert.equal(status?.ready, true);
    assert.ok(status?.state?.running?.startedAt);
    assert.ok(scene.processes().length > 0);
    await scene.delete('one');
    await scene.gone('one');
    await eventually(() => scene.processes().length === 0, 'no process is left');
  },
  async 'several nodes in one process: each has its own pods, and no address is there twice'(t) {
    const scene = await NodeScene.open(t);
    const command = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.05; done'];
    const all = ['a', 'b', 'c'];
    const running = await Promise.all(all.map((name) => scene.start({}, { name })));
    for (const name of all) {
      for (const one of ['x', 'y'])
        await scene.create(`${name}-${one}`, { nodeName: name, containers: [{ name: 'main', command }] });
    }
    const pods = await Promise.all(all.flatMap((name) => [scene.ready(`${name}-x`), scene.ready(`${name}-y`)]));
    assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, pods.length);
    for (const [index, { node }] of running.entries()) {
      assert.deepEqual([...node.podKeys].sort(), [`default/${all[index]}-x`, `default/${all[index]}-y`]);
    }
    const [first] = pods;
    await scene.delete('a-x');
    await scene.gone('a-x');
    await scene.create('a-x', { nodeName: 'a', containers: [{ name: 'main', command }] });
    const again = await scene.ready('a-x');
    assert.notEqual(again.status?.podIP, first?.status?.podIP, 'another address at each creation');
  },
  async 'a log that becomes too long is emptied, and the container goes on'(t) {
    const scene = await NodeScene.open(t);
    await scene.start({ mostLogBytes: 10_000 });
    const pod = await scene.create('flood', {
      containers: [
        {
          name: 'main',
          command: ['sh', '-c', 'trap "exit 0" TERM; while :; do echo a line of a flood; sleep 0.0005; done'],
        },
      ],
    });
    await scene.ready('flood');
    const path = join(scene.folder, 'here', 'pods', pod.metadata.uid, 'containers', 'main', '0', 'log');
    const sizeOf = async () => (await scene.host.files.stat(path))?.size ?? 0;
    await eventually(async () => (await sizeOf()) > 10_000, 'it is long');
    await eventually(async () => (await sizeOf()) < 10_000, 'it is short again');
    await eventually(async () => (await scene.events()).some((line) => line.startsWith('LogEmptied')), 'it is told');
    const after = await scene.ready('flood');
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
  },
  async 'logs that are followed end with the pod, and with its last words'(t) {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start();
    const script = 'trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.01; done';
    await scene.create('talks', { containers: [{ name: 'main', command: ['sh', '-c', script] }] });
    await scene.ready('talks');
    const stop = new AbortController();
    scene.atEnd(async () => stop.abort());
    let heard = '';
    let isOver = false;
    const follow = async () => {
      const options = { follow: true, signal: stop.signal };
      for await (const chunk of node.logs({ namespace: 'default', pod: 'talks' }, options))
        heard += Buffer.from(chunk).toString();
      isOver = true;
    };
    const following = follow();
    following.catch(() => undefined);
    await eventually(() => heard === 'hello\n', 'it is heard');
    await scene.delete('talks');
    await scene.gone('talks');
    await eventually(() => isOver, 'there is nothing more to come');
    await following;
    assert.equal(heard, 'hello\nbye\n');
  },
  async 'the node registers itself, with labels, taints, capacity, and a lease'(t) {
    const scene = await NodeScene.open(t);
    const taints = [{ key: 'only', value: 'redis', effect: 'NoSchedule' }] as const;
    await scene.start({}, { labels: { 'topology.kubernetes.io/zone': 'a' }, taints });
    const node = await eventually(async () => {
      const found = await scene.client.resource(nodes).find('here');
      return found?.status?.conditions ? found : undefined;
    }, 'the node is there');
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'here');
    assert.equal(node.metadata.labels?.['topology.kubernetes.io/zone'], 'a');
    assert.deepEqual(node.spec?.taints, taints);
    assert.equal(node.status?.allocatable?.pods, '110');
    assert.equal(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    const lease = await eventually(
      () => scene.client.resource(leases, 'kube-node-lease').find('here'),
      'its lease is there',
    );
    assert.equal(lease.spec?.holderIdentity, 'here');
  },
};
