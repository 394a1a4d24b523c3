import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDirection } from './direction.ts';

const problemsOf = (path: string, ...imports: string[]) =>
  checkDirection([{ path, text: imports.map((name) => `import '${name}';`).join('\n') }]);

test('what the table of the design allows passes', () => {
  assert.deepEqual(problemsOf('packages/simulation/src/world.ts', '@reeve/runtime', 'node:util', './clock.ts'), []);
  assert.deepEqual(problemsOf('operators/redis/src/plan/fix.ts', '../api/view.ts', './moves.ts', '@reeve/runtime'), []);
  assert.deepEqual(problemsOf('operators/redis/src/controllers/run.ts', '../plan/fix.ts', '../client/client.ts'), []);
  assert.deepEqual(problemsOf('operators/redis/src/plan/fix.test.ts', '@reeve/simulation/redis', 'fast-check'), []);
  assert.deepEqual(problemsOf('apps/cli/src/main.ts', '@reeve/redis', 'node:util'), []);
});

test('packages may not import upwards', () => {
  assert.match(
    problemsOf('packages/runtime/src/a.ts', '@reeve/redis').join(),
    /@reeve\/runtime may not import @reeve\/redis/,
  );
  assert.match(problemsOf('operators/redis/src/index.ts', '@reeve/simulation').join(), /may not import/);
  assert.match(problemsOf('operators/redis/src/index.ts', '../../../apps/cli/src/main.ts').join(), /another package/);
});

test('rooms of an operator may not import upwards', () => {
  assert.match(problemsOf('operators/redis/src/api/view.ts', '../plan/fix.ts').join(), /api\/ may not import plan\//);
  assert.match(
    problemsOf('operators/redis/src/plan/fix.ts', '../observe/observe.ts').join(),
    /plan\/ may not import observe\//,
  );
  assert.match(
    problemsOf('operators/redis/src/commands/meet.ts', '../plan/fix.ts').join(),
    /commands\/ may not import plan\//,
  );
  assert.match(problemsOf('operators/redis/src/plan/fix.ts', '../index.ts').join(), /lies above/);
  assert.match(problemsOf('operators/redis/src/helpers/x.ts', './y.ts').join(), /no room/);
});

test('pure rooms may not import Node, third parties only where listed', () => {
  assert.match(problemsOf('operators/redis/src/plan/fix.ts', 'node:fs').join(), /pure/);
  assert.match(
    problemsOf('operators/redis/src/observe/observe.ts', '@redis/client').join(),
    /only operators\/redis\/src\/client/,
  );
  assert.match(problemsOf('operators/redis/src/observe/observe.ts', 'lodash').join(), /not a dependency/);
});

test('sources may not import tests, and every file lies in a known package', () => {
  assert.match(problemsOf('operators/redis/src/plan/fix.ts', './views.test.ts').join(), /is a test/);
  assert.match(problemsOf('other/x.ts').join(), /no known package/);
});
