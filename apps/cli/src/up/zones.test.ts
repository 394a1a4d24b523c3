import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Harness } from '../../tests/harness.ts';
import { zonesOf } from './zones.ts';

test('zones are values of a label, one after another', () => {
  assert.deepEqual(zonesOf(undefined), []);
  assert.deepEqual(zonesOf('a'), ['a']);
  assert.deepEqual(zonesOf('eu-west_1.a, B2'), ['eu-west_1.a', 'B2']);
});

test('what no label could hold ends the command with 2, before anything is made', async () => {
  for (const zones of ['A_B!', ',,', 'a,,b', 'a,', '-a', 'a.', 'ä', `${'x'.repeat(64)}`]) {
    const harness = new Harness();
    const { code, err } = await harness.run(`up --data /none/of/these --zones ${zones}`);
    assert.equal(code, 2, `${zones}: ${err}`);
    assert.match(err, /--zones.*\[USAGE\]/s, zones);
    assert.equal(harness.files.texts.size, 0);
  }
});
