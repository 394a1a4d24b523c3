import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFiles } from '../host/host.ts';
import { podOf } from '../pod/pod-testing.ts';
import { lastLines, messageMount, messageRuleOf, readMessage } from './termination-message.ts';

function filesWith(contents: Readonly<Record<string, string>>): HostFiles {
  return {
    stat: async (path: string) => {
      const text = contents[path];
      return text === undefined ? undefined : { size: text.length, changedAt: 0 };
    },
    readFrom: async (path: string, position: number, most: number) =>
      Buffer.from((contents[path] ?? '').slice(position, position + most)),
  } as unknown as HostFiles;
}

const from = { file: '/message', log: '/log' };

test('what a container wrote counts; else, if it failed and says so, the end of its log', async () => {
  const rule = { fallsBackToLog: true, mostBytes: 10 };
  const both = filesWith({ '/message': 'why', '/log': 'a\nb\n' });
  assert.equal(await readMessage(both, rule, from, 1), 'why');
  const log = filesWith({ '/message': '', '/log': 'one\ntwo\n' });
  assert.equal(await readMessage(log, rule, from, 1), 'one\ntwo\n');
  assert.equal(await readMessage(log, rule, from, 0), undefined, 'it succeeded');
  assert.equal(await readMessage(log, { ...rule, fallsBackToLog: false }, from, 1), undefined);
  assert.equal(await readMessage(filesWith({}), rule, from, 1), undefined);
  const long = filesWith({ '/message': 'x'.repeat(20) + 'end' });
  assert.equal(await readMessage(long, rule, from, 1), 'xxxxxxxend', 'its end');
});

test('of a log so many lines', () => {
  assert.equal(lastLines('1\n2\n3\n', 2), '2\n3\n');
  assert.equal(lastLines('1\n2\n3', 2), '2\n3');
  assert.equal(lastLines('', 2), '');
});

test('the file is there for those who ask for another place, or name the usual one', () => {
  const usual = '/dev/termination-log';
  assert.equal(messageMount({ name: 'c', command: ['server'] }, '/s'), undefined);
  assert.equal(
    messageMount({ name: 'c', terminationMessagePath: usual }, '/s'),
    undefined,
    'so says the server of all',
  );
  for (const more of [
    { command: ['sh', '-c', `echo no >${usual}`] },
    { args: [`--reason-file=${usual}`] },
    { env: [{ name: 'WHERE', value: usual }] },
  ]) {
    assert.equal(messageMount({ name: 'c', ...more }, '/s')?.target, usual, JSON.stringify(more));
  }
  assert.deepEqual(messageMount({ name: 'c', terminationMessagePath: '/last' }, '/s'), {
    source: '/s',
    target: '/last',
    isReadOnly: false,
    isFile: true,
  });
});

test('containers of one pod share what its status may hold', () => {
  const crowded = podOf({ containers: Array.from({ length: 6 }, (_, at) => ({ name: `c${at}` })) });
  assert.equal(messageRuleOf(podOf(), { name: 'c' }).mostBytes, 4_096);
  assert.equal(messageRuleOf(crowded, { name: 'c' }).mostBytes, 2_048);
});
