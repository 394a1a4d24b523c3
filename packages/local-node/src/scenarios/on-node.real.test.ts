/** The part of the suite that needs a node: real processes of this machine. */
import { after, suite, test } from 'node:test';
import { assertAll, onNode } from './suite-testing.ts';

const ran = new Set<string>();

/** They wait for most of their time. */
suite('on a node of this machine', { concurrency: 3 }, () => {
  for (const [name, play] of Object.entries(onNode)) {
    test(name, async (t) => {
      ran.add(name);
      await play(t);
    });
  }
  after(() => assertAll(ran, onNode));
});
