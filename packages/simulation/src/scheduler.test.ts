import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadline } from '@reeve/runtime';
import { oneAccident } from './choices.ts';
import type { Incarnation } from './incarnation.ts';
import { simulate } from './run.ts';
import type { Scenario, World } from './world.ts';

/** A world with one program; what it says is collected. */
function program(run: (life: Incarnation, say: (text: string) => void) => Promise<void>, rest: Partial<World> = {}) {
  const said: string[] = [];
  const scenario: Scenario = {
    name: 'test',
    build() {
      said.length = 0;
      return { processes: [{ name: 'tool', run: (life) => run(life, (text) => said.push(text)) }], ...rest };
    },
  };
  return { scenario, said };
}

test('time moves only when nothing is ready, and then to the next timer', async () => {
  const { scenario, said } = program(
    async (life, say) => {
      const { clock } = life.ports;
      const start = clock.now();
      const at = () => clock.now() - start;
      await Promise.all([
        clock.sleep(3_600_000).then(() => say(`hour ${at()}`)),
        clock.sleep(5).then(() => say(`soon ${at()}`)),
        life.effect('work', { apply: () => say(`work ${at()}`) }).then(() => say(`after work ${at()}`)),
      ]);
    },
    { convergeMs: 7_200_000 },
  );
  const result = await simulate(scenario, { choices: [] });
  assert.equal(result.failure, undefined);
  assert.deepEqual(said, ['work 0', 'after work 0', 'soon 5', 'hour 3600000']);
});

test('the seed orders effects that are ready together, a channel keeps its order', async () => {
  const run = async (life: Incarnation, say: (text: string) => void) => {
    const names = ['a1', 'b1', 'a2', 'b2', 'a3'];
    await Promise.all(
      names.map((name) => life.effect('send', { channel: name.slice(0, 1), latencyMs: 5, apply: () => say(name) })),
    );
  };
  const orders = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const { scenario, said } = program(run, { faults: { kinds: [] } });
    await simulate(scenario, { seed });
    const text = said.join(' ');
    assert.match(text, /a1.*a2.*a3/);
    assert.match(text, /b1.*b2/);
    orders.add(text);
  }
  assert.equal(orders.size, 10);
});

test('which timer comes first at the same time is a choice', async () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const { scenario, said } = program(
      async (life, say) => {
        await Promise.all(['x', 'y'].map((name) => life.ports.clock.sleep(10).then(() => say(name))));
      },
      { faults: { kinds: [] } },
    );
    await simulate(scenario, { seed });
    orders.add(said.join(''));
  }
  assert.deepEqual([...orders].sort(), ['xy', 'yx']);
});

test('an effect with a condition waits for it', async () => {
  let isOpen = false;
  const { scenario, said } = program(async (life, say) => {
    isOpen = false;
    await Promise.all([
      life.effect('enter', { when: () => isOpen, apply: () => say('entered') }),
      life.ports.clock.sleep(100).then(() => {
        say('opened');
        isOpen = true;
      }),
    ]);
  });
  assert.equal((await simulate(scenario, { choices: [] })).failure, undefined);
  assert.deepEqual(said, ['opened', 'entered']);
});

test('each fault is what it says: what happened and what the caller sees', async () => {
  const outcomes: Record<string, string> = {};
  for (const fault of ['delay', 'fail-before', 'fail-after'] as const) {
    const { scenario, said } = program(async (life, say) => {
      const call = life.effect('call', { apply: () => say('applied') });
      await call.then(
        () => say('answered'),
        (error: Error) => say(error.message),
      );
    });
    const result = await simulate(scenario, { source: oneAccident(fault, 1) });
    assert.equal(result.failure, undefined);
    assert.equal(result.coverage.count('call', fault), 1);
    outcomes[fault] = said.join(', ');
  }
  assert.deepEqual(outcomes, {
    delay: 'applied, answered',
    'fail-before': 'fail-before at call',
    'fail-after': 'applied, fail-after at call',
  });
});

test('a caller whose time is up sees its timeout, and the effect still happens later', async () => {
  const { scenario, said } = program(async (life, say) => {
    const failure = (kind: string) => new Error(`my ${kind}`);
    const slow = life.effect('call', { latencyMs: 80, timeoutMs: 50, failure, apply: () => say('applied') });
    await slow.catch((error: Error) => say(error.message));
    await life.ports.clock.sleep(100);
    await life.effect('call', { latencyMs: 40, timeoutMs: 50, failure, apply: () => say('in time') });
  });
  assert.equal((await simulate(scenario, { choices: [] })).failure, undefined);
  assert.deepEqual(said, ['my timeout', 'applied', 'in time']);
});

test('a sleep ends by abort, with the reason; deadlines work on the virtual clock', async () => {
  const { scenario, said } = program(async (life, say) => {
    using limit = deadline(life.ports.clock, 50, () => new Error('too late'));
    await life.ports.clock.sleep(1_000, limit.signal).catch((error: Error) => say(error.message));
    await life.ports.clock.sleep(1, limit.signal).catch((error: Error) => say(`again ${error.message}`));
  });
  const result = await simulate(scenario, { choices: [] });
  assert.deepEqual(said, ['too late', 'again too late']);
  assert.equal(result.virtualMs, 50);
});

test('a refusal of the world reaches the caller', async () => {
  const refuse = () => {
    throw new Error('not allowed');
  };
  const { scenario, said } = program((life, say) =>
    life.effect('call', { apply: refuse }).catch((error: Error) => say(error.message)),
  );
  const result = await simulate(scenario, { choices: [] });
  assert.deepEqual(said, ['not allowed']);
  assert.match(result.trace.join('\n'), /tool#1 call → refused: not allowed/);
});
