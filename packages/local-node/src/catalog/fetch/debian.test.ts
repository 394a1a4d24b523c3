import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { settled } from '@reeve/runtime/testing';
import type { RunRequest } from '../../host/host.ts';
import { isResolved } from '../../image/images.ts';
import type { Entry } from '../entry.ts';
import { server, sum, ToolMachine } from '../machine-testing.ts';
import { parseMirrors, sourcesText } from './debian-lists.ts';

const { signal } = new AbortController();
const MIRRORS = 'http://m/debian/\tmain\tDebian\nhttp://m/security/\tmain\tDebian-Security\n';
const DEB = 'a package';

const packaged: Entry = {
  ...server,
  installed: undefined,
  fetchable: [
    {
      version: '2.1.0',
      arch: 'x64',
      source: {
        type: 'debian',
        packages: ['server'],
        version: '2.1.0',
        sha256: {},
        suites: ['trixie', 'trixie-security'],
      },
      bytes: 1,
      launch: (folder) => ({ argv: [`${folder}/root/usr/bin/server`], env: {}, path: [] }),
    },
  ],
};

interface Apt {
  /** What is offered, by the sources that count: `machine`, `own`, `suites`. */
  readonly offers: Readonly<Record<string, string>>;
  /** Whose mirrors no longer have what they offer. */
  readonly gone?: readonly string[];
  /** For whom the sources say that they are Debian's. */
  readonly named: readonly string[];
}

/** A machine with this apt-get; what it was told to read goes to `read`. */
function machineWith({ offers, named, gone = [] }: Apt, read: string[]): ToolMachine {
  const machine = new ToolMachine();
  machine.install('apt-get', async ({ argv, env, folder }: RunRequest) => {
    const config = env.APT_CONFIG;
    const lists = config === undefined ? 'machine' : (dirname(config).split('/').at(-1) ?? '');
    const offer = offers[lists];
    const file = `server_${offer}_amd64.deb`;
    if (argv.includes('indextargets')) return { stdout: named.includes(lists) ? MIRRORS : '' };
    if (argv.includes('update')) {
      read.push(lists, (await machine.host.files.read(`${dirname(config ?? '')}/sources.list`)) ?? '');
      return {};
    }
    if (offer === undefined) return { code: 100, stderr: 'E: Unable to locate package server' };
    if (argv.includes('--print-uris')) return { stdout: `'http://m/${file}' ${file} 1 SHA256:${sum(DEB)}\n` };
    if (gone.includes(lists)) return { code: 100, stderr: 'E: Failed to fetch: 404 Not Found' };
    machine.put(`${folder}/${file}`, DEB);
    return {};
  });
  machine.install('dpkg-deb', ({ folder }) => {
    machine.put(`${folder}/root/usr/bin/server`, 'the server');
    return {};
  });
  return machine;
}

async function outcome(machine: ToolMachine): Promise<string> {
  const catalog = machine.catalog({ entries: [packaged] });
  for (let turns = 0; turns < 200; turns++) {
    const answer = await catalog.resolve('server', signal);
    if (isResolved(answer)) return answer.entrypoint.join(' ');
    if (!answer.isComing) return answer.message;
    await settled();
  }
  return assert.fail('it never came');
}

const THERE = /\/server\/2\.1\.0\/root\/usr\/bin\/server$/;

test('what the machine’s own sources have is taken from there', async () => {
  const read: string[] = [];
  const machine = machineWith({ offers: { machine: '2.1.0-1' }, named: ['machine'] }, read);
  assert.match(await outcome(machine), THERE);
  assert.deepEqual(read, [], 'no list is read');
});

test('another version than the machine’s comes from the release that has it, by the machine’s own mirrors', async () => {
  const read: string[] = [];
  const machine = machineWith({ offers: { machine: '2.0.7-1', suites: '2.1.0-3' }, named: ['machine'] }, read);
  assert.match(await outcome(machine), THERE);
  const sources = [
    'deb [target=Packages] http://m/debian/ trixie main\n',
    'deb [target=Packages] http://m/security/ trixie-security main\n',
  ];
  assert.deepEqual(read, ['suites', sources.join('')]);
  assert.ok(![...machine.machine.files.keys()].some((path) => path.includes('/apt/')), 'the lists are gone');
});

test('a machine without lists has its own sources read first', async () => {
  const read: string[] = [];
  const fresh = machineWith({ offers: { own: '2.1.0-1' }, named: ['own'] }, read);
  assert.match(await outcome(fresh), THERE);
  assert.deepEqual(read, ['own', '']);
  read.length = 0;
  const older = machineWith({ offers: { own: '2.0.7-1', suites: '2.1.0-3' }, named: ['own'] }, read);
  assert.match(await outcome(older), THERE);
  assert.equal(read[2], 'suites');
});

test('lists of the machine that name what its mirror no longer has are not the last word', async () => {
  const offers = { machine: '2.1.0-1', suites: '2.1.0-3' };
  assert.match(await outcome(machineWith({ offers, named: ['machine'], gone: ['machine'] }, [])), THERE);
  const nowhere = machineWith({ offers, named: ['machine'], gone: ['machine', 'suites'] }, []);
  assert.match(await outcome(nowhere), /404 Not Found/);
});

test('where nobody has it, what is there is told', async () => {
  const without = machineWith({ offers: { machine: '2.0.7-1', own: '2.0.7-1' }, named: [] }, []);
  assert.match(await outcome(without), /have server 2\.0\.7-1, wanted is 2\.1\.0/);
  const gone = machineWith({ offers: { machine: '2.0.7-1' }, named: ['machine'] }, []);
  assert.match(await outcome(gone), /Unable to locate package server/);
});

test('mirrors are known by what their lists call them', () => {
  assert.deepEqual(parseMirrors(MIRRORS), { main: 'http://m/debian/', security: 'http://m/security/' });
  assert.equal(parseMirrors('http://m/ubuntu/\tmain\tUbuntu\n'), undefined);
  const mirrors = { main: 'http://m/', security: undefined };
  assert.equal(
    sourcesText(['trixie', 'trixie-security'], mirrors, '/keys'),
    'deb [target=Packages signed-by=/keys] http://m/ trixie main\n',
  );
});
