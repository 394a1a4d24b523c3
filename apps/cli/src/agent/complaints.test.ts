import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '@reeve/runtime/testing';
import { Complaints } from './complaints.ts';

test('the same is said once a minute, something else at once, each with its time', async () => {
  const said: string[] = [];
  const clock = new VirtualClock(0);
  const complaints = new Complaints(clock, (text) => said.push(text));
  for (let second = 0; second < 60; second++) {
    complaints.add('no connection');
    await clock.advance(1_000);
  }
  complaints.add('forbidden');
  complaints.add('no connection');
  assert.deepEqual(said, [
    '1970-01-01T00:00:00.000Z no connection\n',
    '1970-01-01T00:01:00.000Z forbidden\n',
    '1970-01-01T00:01:00.000Z no connection\n',
  ]);
});

test('what it remembers is bounded: after very many others something is said anew', () => {
  const said: string[] = [];
  const complaints = new Complaints(new VirtualClock(0), (text) => said.push(text));
  for (const round of [1, 2]) {
    complaints.add('no connection');
    for (let n = 0; n < 200; n++) complaints.add(`round ${round}, error ${n}`);
  }
  assert.equal(said.filter((text) => text.includes('no connection')).length, 2);
});
