import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStat } from '../host/process-table.ts';
import { type Evidence, instanceOf, parseIdentity, PUT_AWAY } from './instance.ts';

const stat = (pid: number, start: number, name = 'sh') =>
  `${pid} (${name}) S 1 ${pid} ${pid} 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 ${start} 2400000 100`;

test('a line about a process is read whatever its name is', () => {
  for (const name of ['sh', 'a b', 'x) S 1 (y', '((']) {
    assert.deepEqual(
      parseStat(stat(7, 99, name)),
      { pid: 7, parent: 1, session: 7, startTime: '99', isZombie: false },
      name,
    );
  }
  assert.equal(parseStat(stat(7, 99).replace(') S', ') Z'))?.isZombie, true);
  assert.equal(parseStat('nonsense'), undefined);
});

test('an identity counts when it is written to its end', () => {
  const text = `${stat(11, 5)}\n${stat(10, 4)}\nboot\n`;
  assert.deepEqual(parseIdentity(text, 1), {
    main: { pid: 11, startTime: '5' },
    shim: { pid: 10, startTime: '4' },
    bootId: 'boot',
    at: 1,
  });
  for (let length = 0; length < text.length; length++) assert.equal(parseIdentity(text.slice(0, length), 1), undefined);
});

test('what became of a run', () => {
  const identity = { main: { pid: 11, startTime: '5' }, shim: { pid: 10, startTime: '4' }, bootId: 'boot', at: 2 };
  const evidence: Evidence = {
    intent: { attempt: 3, at: 1, delayMs: 0, driver: 'plain', image: 'host', isBoxed: false },
    stop: undefined,
    identity,
    exit: undefined,
    bootId: 'boot',
    isMainAlive: true,
    isShimAlive: true,
    isUp: false,
    isGivenUp: false,
    isDeserted: false,
    now: 100,
  };
  const stopOf = (why: string) => ({ at: 8, graceMs: 1_000, why });
  const boxed = { ...evidence.intent, isBoxed: true };
  const dead = { isMainAlive: false, isShimAlive: false };
  const rows: readonly (readonly [string, Partial<Evidence>, string, number | undefined])[] = [
    ['runs', {}, 'running', undefined],
    ['its box is being made', { intent: boxed }, 'starting', undefined],
    ['its box is made', { intent: boxed, isUp: true }, 'running', undefined],
    ['its box could not be made', { intent: boxed, ...dead, exit: { code: 1, at: 9 } }, 'ended', 1],
    ['its shim was killed', { isShimAlive: false }, 'running', undefined],
    ['ended, the code is on its way', { isMainAlive: false }, 'running', undefined],
    ['ended', { ...dead, exit: { code: 3, at: 9 } }, 'ended', 3],
    ['ended because it was asked to', { ...dead, exit: { code: 0, at: 9 }, stop: stopOf('deleted') }, 'ended', 0],
    ['ended with its machine', { ...dead, exit: { code: 0, at: 9 }, stop: stopOf(PUT_AWAY) }, 'ended', 137],
    ['is ended with its machine', { stop: stopOf(PUT_AWAY) }, 'running', undefined],
    ['both were killed', dead, 'ended', 137],
    ['the machine was restarted, the number is somebody else’s', { bootId: 'other' }, 'ended', 137],
    [
      'the machine was restarted before it said who it is',
      { identity: undefined, ...dead, bootId: 'other', intent: { ...evidence.intent, bootId: 'boot' } },
      'ended',
      137,
    ],
    ['ended before the machine was restarted', { bootId: 'other', exit: { code: 0, at: 9 } }, 'ended', 0],
    ['could not say who it is', { identity: undefined, ...dead, exit: { code: 125, at: 9 } }, 'ended', 125],
    ['about to begin', { identity: undefined, ...dead }, 'starting', undefined],
    ['never began', { identity: undefined, ...dead, isGivenUp: true }, 'void', undefined],
    ['began and is nowhere', { identity: undefined, ...dead, isDeserted: true }, 'ended', 137],
  ];
  for (const [what, change, state, code] of rows) {
    const instance = instanceOf({ ...evidence, ...change });
    assert.deepEqual([instance.state, instance.end?.code], [state, code], what);
  }
});
