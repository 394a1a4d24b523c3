import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Kube, startKube } from '@reeve/rig';
import { faults } from './faults.ts';
import { many } from './many.ts';
import { play } from './round.ts';

let kube: Kube;
before(async () => {
  kube = await startKube();
});
after(() => kube?.stop());

for (const name of ['closed', 'half']) {
  test(`a round of the proof: ${name}`, async () => {
    const fault = faults[name];
    assert.ok(fault);
    const result = await play({ kube, fault, name, random: Math.random, kubeconfig: kube.kubeconfig });
    assert.equal(result.problem, undefined);
    assert.ok(result.events > 10);
  });
}

test('a round of the proof: many objects', async () => {
  const { problem, objects } = await many(kube, 700, Math.random);
  assert.deepEqual([problem, objects], [undefined, 700]);
});
