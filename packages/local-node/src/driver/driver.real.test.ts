/** Every driver that works on this machine, through the same cases. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { pathWithBubblewrap } from '@reeve/rig';
import { systemPorts } from '@reeve/runtime';
import { systemHost } from '../host/system-host.ts';
import { configMaps } from '../kinds/config-map.ts';
import { secrets } from '../kinds/secret.ts';
import { serviceEndpoints } from '../node/names.ts';
import { eventually, NodeScene } from '../node/node-testing.ts';
import { detectDrivers } from './detect.ts';
import { plainDriver } from './plain.ts';

const sh = (script: string) => ['sh', '-c', script];
const folder = await mkdtemp(join(tmpdir(), 'reeve-drivers-'));
after(() => rm(folder, { recursive: true }));
const { drivers, reports } = await detectDrivers(
  { ...systemPorts, host: systemHost(await pathWithBubblewrap()) },
  folder,
);
before(() => console.log(JSON.stringify(reports)));

test('there is always a driver, and each one that is missing says why', () => {
  assert.equal(reports.find(({ name }) => name === 'bwrap')?.note, '', 'it is here, and it works');
  assert.equal(drivers.at(-1)?.name, 'plain');
  for (const { works, note } of reports) assert.ok(works || note !== '');
});

for (const driver of drivers.filter(({ hasMounts }) => hasMounts)) {
  test(`${driver.name}: volumes appear where the pod wants them, in a namespace of its own`, async (t) => {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start({ drivers: [driver] });
    await scene.client.resource(configMaps, 'default').create({ metadata: { name: 'c' }, data: { word: 'hello' } });
    const look =
      'cat /srv/reeve/conf/word; echo kept >/data/x; cat /var/lib/reeve-test/x; cat "/srv/it\'s #1\\\\x/x" /data/in/x; grep -c "$POD_IP" /etc/hosts; [ -d /proc/$$$$ ] && echo proc';
    await scene.create('boxed', {
      hostname: 'boxed-name',
      volumes: [
        { name: 'conf', configMap: { name: 'c' } },
        { name: 'data', emptyDir: {} },
      ],
      containers: [
        {
          name: 'main',
          command: sh(
            `${look}; echo x >/srv/reeve/conf/y || echo sealed; trap "echo bye; exit 3" TERM; while :; do sleep 0.02; done`,
          ),
          volumeMounts: [
            { name: 'conf', mountPath: '/srv/reeve/conf', readOnly: true },
            { name: 'data', mountPath: '/data' },
            { name: 'data', mountPath: '/var/lib/reeve-test' },
            { name: 'data', mountPath: "/srv/it's #1\\x" },
            { name: 'data', mountPath: '/data/in' },
          ],
        },
      ],
    });
    await scene.ready('boxed');
    const { signal } = new AbortController();
    const at = { namespace: 'default', pod: 'boxed' };
    const read = async () => {
      let text = '';
      for await (const chunk of node.logs(at, { signal })) text += Buffer.from(chunk).toString();
      return text;
    };
    const log = await eventually(async () => {
      const text = await read();
      return text.includes('sealed') ? text : undefined;
    }, 'it has looked around');
    assert.match(log, /^hellokept\nkept\nkept\n1\nproc\n/);
    const inside = await node.exec(at, sh('cat /data/x; exit 4'), { signal });
    assert.deepEqual([inside.code, inside.stdout], [4, 'kept\n'], inside.stderr);
    await scene.client.resource(serviceEndpoints, 'default').create({
      metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
      ...({ addressType: 'IPv4', endpoints: [{ addresses: ['127.9.9.9'] }] } as object),
    });
    await eventually(
      async () =>
        (await node.exec(at, ['getent', 'hosts', 'web.default.svc.cluster.local'], { signal })).stdout.startsWith(
          '127.9.9.9',
        ),
      'names of services are known',
    );
    const hosts = await readFile('/etc/hosts', 'utf8');
    assert.ok(!hosts.includes('boxed-name'), 'the machine’s own file is as it was');
    await scene.delete('boxed');
    await scene.gone('boxed');
    await eventually(() => scene.processes().length === 0, 'no process is left');
  });

  if (process.getuid?.() === 0) {
    test(`${driver.name}: root runs a container as somebody else`, async (t) => {
      const scene = await NodeScene.open(t);
      const { node } = await scene.start({ drivers: [driver] });
      await scene.client.resource(secrets, 'default').create({ metadata: { name: 's' }, data: { word: 'aGVsbG8=' } });
      await scene.create('other', {
        securityContext: { runAsUser: 12345 },
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'secret', secret: { secretName: 's' } },
        ],
        containers: [
          {
            name: 'main',
            command: sh(
              'id -u; echo x >y && echo here; echo z >/srv/reeve/data/z && cat /srv/reeve/secret/word; exec sleep 1000',
            ),
            volumeMounts: [
              { name: 'data', mountPath: '/srv/reeve/data' },
              { name: 'secret', mountPath: '/srv/reeve/secret' },
            ],
          },
        ],
      });
      await scene.ready('other');
      await eventually(async () => (await scene.logOf(node, 'other')) === '12345\nhere\nhello', 'it may do all of it');
      const { signal } = new AbortController();
      const { stdout } = await node.exec(
        { namespace: 'default', pod: 'other' },
        sh('id -u; grep CapEff /proc/self/status'),
        { signal },
      );
      assert.match(stdout, /^12345\nCapEff:\s+0+\n$/);
    });

    test(`${driver.name}: volumes of root’s node are for each container, whoever it runs as`, async (t) => {
      const scene = await NodeScene.open(t);
      const { node } = await scene.start({ drivers: [driver] });
      const container = (name: string, runAsUser: number) => ({
        name,
        securityContext: { runAsUser },
        command: sh('echo x >/srv/reeve/data/$NAME && echo x >/srv/reeve/sub/$NAME && echo here; exec sleep 1000'),
        env: [{ name: 'NAME', value: name }],
        volumeMounts: [
          { name: 'data', mountPath: '/srv/reeve/data' },
          { name: 'data', mountPath: '/srv/reeve/sub', subPath: 'a/b' },
        ],
      });
      await scene.create('shared', {
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [container('one', 12345), container('two', 12346), container('root', 0)],
      });
      await scene.ready('shared');
      for (const name of ['one', 'two', 'root']) {
        await eventually(async () => (await scene.logOf(node, 'shared', name)) === 'here\n', `${name} writes`);
      }
    });
  }

  test(`${driver.name}: exit codes, daemons and stubborn programs`, async (t) => {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start({ drivers: [driver] });
    const restartPolicy = 'Never';
    const daemon = 'setsid sh -c "while :; do sleep 0.05; done" >/dev/null 2>&1 &';
    await scene.create('code', { restartPolicy, containers: [{ name: 'main', command: sh(`${daemon} exit 7`) }] });
    await scene.create('signal', {
      restartPolicy,
      containers: [{ name: 'main', command: sh('echo said >&2; kill -9 $$$$') }],
    });
    const codeOf = async (name: string) => {
      const pod = await scene.until(name, ({ status }) => status?.phase === 'Failed', `${name} ends`);
      return pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode;
    };
    assert.equal(await codeOf('code'), 7);
    assert.equal(await codeOf('signal'), 137);
    assert.equal(await scene.logOf(node, 'signal'), 'said\n', 'nothing but what it said');
    await eventually(() => scene.processes().length === 0, 'the daemon has ended, too');
    const stubborn = sh('trap "" TERM; while :; do sleep 0.02; done');
    await scene.create('stubborn', {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', command: stubborn }],
    });
    await scene.ready('stubborn');
    await scene.delete('stubborn');
    await scene.gone('stubborn');
    await eventually(() => scene.processes().length === 0, 'no process is left');
  });

  test(`${driver.name}: what is made of an object is sealed, and another volume may have its place in it`, async (t) => {
    const scene = await NodeScene.open(t);
    const { node } = await scene.start({ drivers: [driver] });
    const maps = scene.client.resource(configMaps, 'default');
    await maps.create({ metadata: { name: 'c' }, data: { a: '1' } });
    const script = 'echo 2 >conf/b || echo sealed; echo 3 >conf/in/c; trap "exit 0" TERM; while :; do sleep 0.02; done';
    await scene.create('nested', {
      volumes: [
        { name: 'conf', configMap: { name: 'c' } },
        { name: 'in', emptyDir: {} },
      ],
      containers: [
        {
          name: 'main',
          workingDir: '/srv/reeve',
          command: sh(script),
          volumeMounts: [
            { name: 'conf', mountPath: '/srv/reeve/conf' },
            { name: 'in', mountPath: '/srv/reeve/conf/in' },
          ],
        },
      ],
    });
    await scene.ready('nested');
    await eventually(async () => (await scene.logOf(node, 'nested')).includes('sealed'), 'it cannot write there');
    await maps.patch('c', { type: 'merge', value: { data: { a: '4' } } });
    const { signal } = new AbortController();
    const look = async () =>
      (await node.exec({ namespace: 'default', pod: 'nested' }, sh('cd /srv/reeve; cat conf/a conf/in/c'), { signal }))
        .stdout;
    await eventually(async () => (await look()) === '43\n', 'the change is there, and so is the other volume');
  });

  test(`${driver.name}: a pod is taken over with its namespaces`, async (t) => {
    const scene = await NodeScene.open(t);
    const first = await scene.start({ drivers: [driver, plainDriver] });
    await scene.create('stays', {
      containers: [{ name: 'main', command: sh('trap "exit 3" TERM; while :; do sleep 0.02; done') }],
    });
    await scene.ready('stays');
    const count = scene.processes().length;
    await first.stop();
    const second = await scene.start({ drivers: [plainDriver, driver] }); // another one for what begins now
    const at = { namespace: 'default', pod: 'stays' };
    const { signal } = new AbortController();
    const { stdout } = await second.node.exec(at, sh('readlink /proc/self/ns/mnt'), { signal });
    assert.ok(stdout.startsWith('mnt:'));
    const host = await readlink('/proc/self/ns/mnt');
    assert.notEqual(stdout.trim(), host);
    assert.ok(scene.processes().length <= count + 1);
    await scene.delete('stays');
    await scene.gone('stays');
  });
}

test('plain: paths are moved in pods that say so; other pods with mounts wait, and are told why', async (t) => {
  const scene = await NodeScene.open(t);
  const { node } = await scene.start({ drivers: [plainDriver] });
  const spec = {
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [
      {
        name: 'main',
        command: sh('echo kept >/data/x; cat $FILE; trap "exit 0" TERM; while :; do sleep 0.02; done'),
        env: [{ name: 'FILE', value: '/data/x' }],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
  };
  await scene.create('moved', spec, { annotations: { 'reeve.dev/relocatable': 'true' } });
  await scene.create('fixed', spec);
  await scene.ready('moved');
  const { signal } = new AbortController();
  await eventually(async () => {
    let text = '';
    for await (const chunk of node.logs({ namespace: 'default', pod: 'moved' }, { signal }))
      text += Buffer.from(chunk).toString();
    return text === 'kept\n';
  }, 'it has found its file');
  const exec = await node.exec({ namespace: 'default', pod: 'moved' }, ['cat', '/data/x'], { signal });
  assert.equal(exec.stdout, 'kept\n');
  const fixed = await scene.until('fixed', ({ status }) => status?.reason === 'SandboxUnavailable', 'it waits');
  assert.equal(fixed.status?.phase, 'Pending');
  assert.match(fixed.status?.message ?? '', /relocatable/);
});

for (const driver of drivers) {
  test(`${driver.name}: commands, probes and hooks begin where the program was begun`, async (t) => {
    const scene = await NodeScene.open(t);
    const first = await scene.start({ drivers: [driver] });
    const main = {
      name: 'main',
      command: sh('pwd; echo >here; trap "exit 0" TERM; while :; do sleep 0.02; done'),
      readinessProbe: { exec: { command: ['test', '-e', 'here'] }, periodSeconds: 1 },
      lifecycle: { postStart: { exec: { command: sh('pwd >hook') } } },
    };
    const workingDir = "/srv/reeve/it's";
    const volumeMounts = [{ name: 'data', mountPath: workingDir }];
    const marked = { annotations: { 'reeve.dev/relocatable': 'true' } };
    const volumes = [{ name: 'data', emptyDir: {} }];
    await scene.create('named', { volumes, containers: [{ ...main, workingDir, volumeMounts }] }, marked);
    await scene.create('unnamed', { containers: [main] });
    const { signal } = new AbortController();
    const ask = async ({ node }: typeof first, pod: string) =>
      (await node.exec({ namespace: 'default', pod }, sh('pwd; cat hook'), { signal })).stdout;
    const places: Record<string, string> = {};
    for (const pod of ['named', 'unnamed']) {
      await scene.ready(pod);
      const place = await scene.logOf(first.node, pod);
      assert.equal(await ask(first, pod), place.repeat(2), pod);
      places[pod] = place;
    }
    if (driver.hasMounts) assert.equal(places.named, `${workingDir}\n`);
    assert.notEqual(places.unnamed, '/\n');
    await first.stop();
    const second = await scene.start({ drivers: [driver] });
    await eventually(
      async () => (await ask(second, 'named').catch(() => '')) === places.named?.repeat(2),
      'so says the next node, too',
    );
  });
}
