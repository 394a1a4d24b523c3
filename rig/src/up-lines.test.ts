import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upLines } from './up-lines.ts';

test('of what reeve up says npm start leaves out what is not so here, however its output is cut', () => {
  const before = 'API         https://127.0.0.1:1\nnodes       3\n\n';
  const goOn =
    'Go on from another terminal:\n\n  export KUBECONFIG=/k\n  reeve get nodes        (kubectl does it as well)\n\n';
  const its = 'Ctrl-C stops the control plane; pods go on. `reeve down` ends them, too.\n';
  const later = 'Another one wants this folder.\nStopping. Pods go on\nStopped.\n';
  const whole = before + goOn + its + later;
  for (const size of [1, 7, whole.length]) {
    const said: string[] = [];
    const pass = upLines((line) => said.push(line));
    for (let at = 0; at < whole.length; at += size) pass(whole.slice(at, at + size));
    const expected = [...before.split('\n').slice(0, -1), 'Another one wants this folder.', 'Stopped.'];
    assert.deepEqual(said, expected);
  }
});
