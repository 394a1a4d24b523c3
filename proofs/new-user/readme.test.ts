import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingLines } from './readme.ts';

const README = [
  '# A',
  '`npm start` (shortened):',
  '',
  '    $ reeve up --data x',
  '    API         https://127.0.0.1:41739',
  '    kubeconfig  …/kubeconfig',
  '    …',
  '',
  '      Pending (nobody is there)',
  '      Running: 16384 slots',
  '',
  'It runs until Ctrl-C.',
  '',
  '    another block',
].join('\n');

test('what the README shows is found in what was printed, with other numbers, paths and moments', () => {
  const printed = [
    '$ reeve up --data x',
    'API    https://127.0.0.1:5',
    'kubeconfig  /a/b/kubeconfig',
    '  Running: 3 slots',
  ];
  assert.deepEqual(missingLines(README, printed.join('\n')), []);
  assert.deepEqual(missingLines(README, printed.slice(1).join('\n')), ['    $ reeve up --data x']);
  assert.deepEqual(missingLines(README, printed.join('\n').replace('Running:', 'Broken:')), [
    '      Running: 16384 slots',
  ]);
  assert.deepEqual(missingLines('# no block', ''), ['no block after `npm start` (shortened):']);
});
