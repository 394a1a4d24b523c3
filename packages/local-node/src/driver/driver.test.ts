import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, HostFiles } from '../host/host.ts';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { VirtualClock } from '@reeve/runtime/testing';
import { bwrapArguments } from './bwrap.ts';
import { detectDrivers } from './detect.ts';
import { entrances } from './entrances.ts';
import type { Mount } from './driver.ts';
import { layoutOf } from './layout.ts';
import { relocate } from './plain.ts';
import { asidesOf, batchesOf, isInPlace, quoted, setUpScript } from './unshare.ts';

test('a mount path is replaced as a whole word', () => {
  const mounts = [
    { source: '/s/data', target: '/data' },
    { source: '/s/logs', target: '/data/logs/' },
    { source: '/s/conf', target: '/etc/my.conf' },
  ];
  const rows = [
    ['/data', '/s/data'],
    ['/data/', '/s/data/'],
    ['/data/x', '/s/data/x'],
    ['--dir=/data', '--dir=/s/data'],
    ['/data:/data/logs', '/s/data:/s/logs'],
    ['/data/logs2', '/s/data/logs2'],
    ['/database', '/database'],
    ['/data-2', '/data-2'],
    ['/data.bak', '/data.bak'],
    ['/srv/data', '/srv/data'],
    ['data', 'data'],
    ['/data/../etc', '/data/../etc'],
    ['cat /etc/my.conf; cat /etc/myxconf', 'cat /s/conf; cat /etc/myxconf'],
    ['"/data"', '"/s/data"'],
  ] as const;
  for (const [text, expected] of rows) assert.equal(relocate(text, mounts), expected, text);
  assert.equal(relocate('/data', []), '/data');
});

/** A machine with these folders; `name@` is a link. */
function machine(
  tree: Readonly<Record<string, readonly string[]>>,
  links: Readonly<Record<string, string>> = {},
): HostFiles {
  const resolve = (path: string): string | undefined => {
    let at = '';
    for (const part of path.split('/').filter(Boolean)) {
      const there = tree[at === '' ? '/' : at]?.find((name) => name.replace(/[@*]$/, '') === part);
      if (there === undefined) return undefined;
      const next = `${at}/${part}`;
      at = there.endsWith('@') ? (resolve(links[next] ?? '') ?? next) : next;
    }
    return at === '' ? '/' : at;
  };
  const kindOf = (name: string): Entry['kind'] =>
    name.endsWith('@') ? 'link' : name.endsWith('*') ? 'file' : 'folder';
  return {
    list: async (path: string) => tree[path]?.map((name) => ({ name: name.replace(/[@*]$/, ''), kind: kindOf(name) })),
    realPath: async (path: string) => resolve(path),
    linkTarget: async (path: string) => links[path],
    kindOf: async (path: string) =>
      resolve(path) === undefined ? undefined : tree[resolve(path) ?? ''] ? 'folder' : 'file',
  } as unknown as HostFiles;
}

const mount = (target: string, more: Partial<Mount> = {}): Mount => ({
  source: `/s${target}`,
  target,
  isReadOnly: false,
  isFile: false,
  ...more,
});

test('what exists is mounted over; beside it there is room after its folder was opened', async () => {
  const files = machine(
    {
      '/': ['etc', 'srv', 'var', 'run'],
      '/etc': ['hosts*', 'ssl'],
      '/srv': [],
      '/var': ['run@', 'lib'],
      '/run': ['x'],
      '/etc/ssl': [],
      '/var/lib': [],
      '/run/x': [],
    },
    { '/var/run': '/run' },
  );
  const hosts = await layoutOf(files, [mount('/etc/hosts', { isFile: true })]);
  assert.deepEqual(hosts, {
    isRootOpened: false,
    steps: [{ type: 'bind', source: '/s/etc/hosts', path: '/etc/hosts', isReadOnly: false }],
  });
  const below = await layoutOf(files, [mount('/srv/reeve/data')]);
  assert.deepEqual(below.steps, [
    { type: 'tmpfs', path: '/srv' },
    { type: 'folder', path: '/srv/reeve/data' },
    { type: 'bind', source: '/s/srv/reeve/data', path: '/srv/reeve/data', isReadOnly: false },
  ]);
  const linked = await layoutOf(files, [mount('/var/run/secrets/t', { isReadOnly: true })]);
  assert.deepEqual(linked.steps, [
    { type: 'tmpfs', path: '/run' },
    { type: 'folder', path: '/run/x' },
    { type: 'bind', source: '/run/x', path: '/run/x', isReadOnly: false },
    { type: 'folder', path: '/run/secrets/t' },
    { type: 'bind', source: '/s/var/run/secrets/t', path: '/run/secrets/t', isReadOnly: true },
  ]);
  const root = await layoutOf(files, [mount('/data')]);
  assert.equal(root.isRootOpened, true);
  assert.deepEqual(
    root.steps.map((step) => `${step.type} ${step.path}`).filter((line) => line.startsWith('bind')),
    ['bind /etc', 'bind /srv', 'bind /var', 'bind /run', 'bind /data'],
  );
});

test('mounts within mounts come after them', async () => {
  const files = machine({ '/': ['srv'], '/srv': [] });
  const { steps } = await layoutOf(files, [mount('/srv/a/b'), mount('/srv/a')]);
  assert.deepEqual(
    steps.map((step) => `${step.type} ${step.path}`),
    ['tmpfs /srv', 'folder /srv/a', 'bind /srv/a', 'folder /srv/a/b', 'bind /srv/a/b'],
  );
});

test('the same layout for both tools', async () => {
  const files = machine({ '/': ['srv', 'bin@'], '/srv': [] }, { '/bin': 'usr/bin' });
  const layout = await layoutOf(files, [mount("/it's", { isReadOnly: true })]);
  assert.deepEqual(bwrapArguments(layout), [
    ...['--dir', '/srv', '--dev-bind', '/srv', '/srv', '--symlink', 'usr/bin', '/bin', '--dir', "/it's"],
    ...['--bind', "/s/it's", "/it's", '--remount-ro', "/it's", '--proc', '/proc'],
  ]);
  const asked = { layout, folder: '/r', isInPlace: false, workingDir: undefined };
  const script = setUpScript({ ...asked, user: { uid: 7, gid: 8 } });
  assert.ok(script.includes(`'/s/it'\\''s /r/it'\\''s none rbind 0 0'`), script);
  assert.ok(script.includes(`'none /r/it'\\''s none remount,bind,ro 0 0'`), script);
  assert.ok(script.includes(`[ ! -w "$reeve_root"'/it'\\''s' ] || seal "$reeve_root"'/it'\\''s'`), script);
  assert.ok(script.includes(`cp -P '/bin' "$reeve_root"'/'/`), script);
  assert.ok(script.includes('--map-user=7 --map-group=8'), script);
  assert.equal(quoted("a'b"), `'a'\\''b'`);
});

test('mounts are made in place where nothing that is needed is hidden', async () => {
  const files = machine({ '/': ['etc', 'srv', 'var'], '/etc': ['hosts*'], '/srv': [], '/var': ['x'], '/var/x': [] });
  const inPlace = async (targets: readonly string[], needed: readonly string[]) => {
    const mounts = targets.map((target) => mount(target, { isFile: target === '/etc/hosts' }));
    return isInPlace(await layoutOf(files, mounts), needed);
  };
  assert.equal(await inPlace(['/etc/hosts'], ['/var/x/hosts']), true);
  assert.equal(await inPlace(['/etc/hosts', '/srv/reeve/data'], ['/var/x/hosts']), true, 'it was empty');
  assert.equal(await inPlace(['/var/new'], ['/s']), true, 'what the machine has there is put back');
  assert.equal(await inPlace(['/var/new'], ['/var/x/hosts']), false, 'but is hidden for a while');
  assert.equal(await inPlace(['/new'], ['/s']), false, 'the root itself is opened');
  assert.equal(await inPlace(['/var'], ['/var/x/hosts']), false, 'what is mounted later would be hidden');
  assert.equal(await inPlace(['/srv/a'], ['/srv']), false, 'so would this');
  const layout = await layoutOf(files, [mount('/etc/hosts', { isFile: true })]);
  const asked = { folder: '/r', isInPlace: true, workingDir: undefined, user: undefined };
  const script = setUpScript({ ...asked, layout });
  assert.ok(!script.includes('pivot_root'), script);
  assert.ok(script.includes(`'/s/etc/hosts /etc/hosts none rbind 0 0'`), script);
});

test('what can be made together is one batch; nothing is made below a mount of the same batch', async () => {
  const files = machine({ '/': ['run', 'srv'], '/run': ['a', 'b', 'c*'], '/run/a': [], '/run/b': [], '/srv': [] });
  const rows: readonly [targets: readonly string[], batches: readonly (readonly string[])[]][] = [
    [
      ['/run/secrets/token', '/srv/data'],
      [
        [
          ...[
            'tmpfs /run',
            'folder /run/a',
            'bind /run/a',
            'folder /run/b',
            'bind /run/b',
            'file /run/c',
            'bind /run/c',
          ],
          ...[
            'tmpfs /srv',
            'folder /srv/data',
            'bind /srv/data',
            'folder /run/secrets/token',
            'bind /run/secrets/token',
          ],
        ],
      ],
    ],
    [
      ['/srv/a', '/srv/a/b', '/srv/a/c'],
      [
        ['tmpfs /srv', 'folder /srv/a', 'bind /srv/a'],
        ['folder /srv/a/b', 'bind /srv/a/b', 'folder /srv/a/c', 'bind /srv/a/c'],
      ],
    ],
    [
      ['/run/x', '/run/a/x'],
      [
        ['tmpfs /run', 'folder /run/a', 'bind /run/a', 'folder /run/b', 'bind /run/b', 'file /run/c', 'bind /run/c'],
        ['tmpfs /run/a', 'folder /run/x', 'bind /run/x', 'folder /run/a/x', 'bind /run/a/x'],
      ],
    ],
  ];
  for (const [targets, expected] of rows) {
    const { steps } = await layoutOf(
      files,
      targets.map((target) => mount(target)),
    );
    const told = batchesOf(steps).map((batch) => batch.map(({ type, path }) => `${type} ${path}`));
    assert.deepEqual(told, expected, targets.join(' '));
  }
  const layout = await layoutOf(
    files,
    ['/run/secrets/token', '/srv/my data'].map((target) => mount(target)),
  );
  const script = setUpScript({ layout, folder: '/r', isInPlace: false, workingDir: undefined, user: undefined });
  assert.equal(script.match(/^mkdir /gm)?.length, 1, script);
  assert.equal(script.match(/^mount -a /gm)?.length, 2, script);
  assert.ok(script.includes(`'/s/srv/my\\040data /r/srv/my\\040data none rbind 0 0'`), script);
});

test('in place, what was in a folder that is opened is kept aside and put back', async () => {
  const tree = { '/': ['run'], '/run': ['a', 'c*', 'l@', 'm@'], '/run/a': ['d'], '/run/a/d': [] };
  const files = machine(tree, { '/run/l': 'a', '/run/m': 'a' });
  const layout = await layoutOf(
    files,
    ['/run/new', '/run/a/new'].map((target) => mount(target, { isReadOnly: true })),
  );
  const script = setUpScript({ layout, folder: '/r', isInPlace: true, workingDir: undefined, user: undefined });
  const lines = [
    `'/run /r/0 none rbind 0 0' 'reeve-box /run tmpfs mode=755 0 0'`,
    `cp -P '/r/0/l' '/r/0/m' "$reeve_root"'/run'/`,
    `'/r/0/a /run/a none rbind 0 0' '/r/0/c /run/c none rbind 0 0'`,
    `'/run/a /r/1 none rbind 0 0' 'reeve-box /run/a tmpfs mode=755 0 0'`,
    `'/r/1/d /run/a/d none rbind 0 0'`,
    `'/s/run/a/new /run/a/new none rbind 0 0'`,
    `'none /run/new none remount,bind,ro 0 0' 'none /run/a/new none remount,bind,ro 0 0'`,
  ];
  let at = 0;
  for (const line of lines) {
    const found = script.indexOf(line, at);
    assert.ok(found >= 0, `${line} is not there, or not after the others, in\n${script}`);
    at = found;
  }
  assert.deepEqual([...asidesOf(layout, '/r').values()], ['/r/0', '/r/1']);
});

test('a folder of PATH that may not be looked into is no reason to have no driver', async () => {
  const { host } = new MemoryMachine(() => 0);
  const kindOf = async () => Promise.reject(new Error('EACCES'));
  const ports = { clock: new VirtualClock(), host: { ...host, files: { ...host.files, kindOf } } };
  const { drivers, reports } = await detectDrivers(ports, '/try');
  assert.deepEqual(
    drivers.map(({ name }) => name),
    ['plain'],
  );
  assert.equal(reports.find(({ name }) => name === 'bwrap')?.note, 'bwrap is not in PATH');
  assert.deepEqual((await detectDrivers(ports, '/try', 'plain')).drivers[0].name, 'plain');
  await assert.rejects(detectDrivers(ports, '/try', 'bwrap'), { code: 'NODE_OPTIONS' });
});

test('boxes of every driver can be entered, whether it is there or not; of others nobody knows how', () => {
  const { host } = new MemoryMachine(() => 0);
  const entranceOf = entrances({ ...host, user: { uid: 0, gid: 0 } });
  const main = { pid: 7, startTime: '7' };
  for (const name of ['bwrap', 'unshare'])
    assert.equal(
      entranceOf(name).enter(main, ['ls'], []).join(' '),
      '/usr/bin/nsenter --target 7 --mount --pid -- ls',
      name,
    );
  assert.deepEqual(entranceOf('plain').enter(main, ['ls'], []), ['ls']);
  assert.throws(() => entranceOf('jail'), /NODE_DRIVER|not known here/);
});
