/** Runs one case and compares what it expects. */
import assert from 'node:assert/strict';
import type { Case } from './case-testing.ts';
import { type Functions, ownersOf, valueAt, World } from './world-testing.ts';

export function checkCase({ steps, expected }: Case, functions?: Functions): void {
  const world = new World(functions);
  for (const [index, step] of steps.entries()) {
    const outcome = world.run(step);
    if (step.fails) {
      assert.ok('status' in outcome, `step ${index} was to be refused`);
      assert.equal(outcome.status.code, step.fails.code, `step ${index}: ${outcome.status.message}`);
      if (step.fails.message !== undefined) assert.equal(outcome.status.message, step.fails.message);
      continue;
    }
    assert.ok('object' in outcome, `step ${index}: ${'status' in outcome ? outcome.status.message : ''}`);
    if (step.unchanged) assert.equal(outcome.isChanged, false, `step ${index} was to change nothing`);
  }
  const object = world.object ?? {};
  for (const [path, value] of Object.entries(expected.values ?? {})) {
    assert.deepEqual(valueAt(object, path), value, path);
  }
  if (expected.owns) assert.deepEqual(sorted(ownersOf(object)), sorted(expected.owns));
}

function sorted(owns: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(owns).map(([name, fields]) => [name, [...fields].sort()]));
}
