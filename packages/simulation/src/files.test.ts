import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededChoices } from './choices.ts';
import { simulate } from './run.ts';
import type { Scenario } from './world.ts';

test('files are written, appended, read and removed, and outlive the process', async () => {
  const seen: (string | undefined)[] = [];
  const scenario: Scenario = {
    name: 'files',
    build: (simulation) => ({
      processes: [
        {
          name: 'tool',
          async run({ ports: { files } }) {
            seen.push(await files.read('a'));
            await files.write('a', 'one\n');
            await files.append('a', 'two\n');
            seen.push(await files.read('a'));
            await files.write('b', 'gone');
            await files.remove('b');
            seen.push(await files.read('b'));
          },
        },
      ],
      atEnd: () => assert.deepEqual([...simulation.disk('tool')], [['a', 'one\ntwo\n']]),
    }),
  };
  assert.equal((await simulate(scenario, { choices: [] })).failure, undefined);
  assert.deepEqual(seen, [undefined, 'one\ntwo\n', undefined]);
});

test('a crash at an append leaves all, nothing or a part of the line; at a write all or nothing', async () => {
  const after = { append: new Set<string>(), write: new Set<string>() };
  for (const how of ['append', 'write'] as const) {
    const scenario: Scenario = {
      name: how,
      build: (simulation) => ({
        processes: [
          {
            name: 'tool',
            async run(life) {
              if (life.life > 1) after[how].add((await life.ports.files.read('f')) ?? 'nothing');
              else await life.ports.files[how]('f', '12345678\n');
            },
          },
        ],
        faults: { kinds: ['crash-before', 'crash-after'], most: 1 },
        atEnd: () => after[how].add(simulation.disk('tool').get('f') ?? 'nothing'),
      }),
    };
    for (let seed = 0; seed < 400; seed++) {
      const calm = seededChoices(seed, { calm: true });
      let isFirst = true;
      const strike = () => {
        if (!isFirst) return 0;
        isFirst = false;
        return 1 + (seed % 2);
      };
      await simulate(scenario, { source: { ...calm, strike } });
    }
  }
  assert.deepEqual([...after.append].sort(), ['12', '1234', '123456', '12345678\n', 'nothing']);
  assert.deepEqual([...after.write].sort(), ['12345678\n', 'nothing']);
});
