import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turns } from './turns.ts';

/** Work that ends when it is told to. */
class Work {
  began = false;
  #end: () => void = () => undefined;

  readonly run = async (): Promise<void> => {
    this.began = true;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
    });
  };

  end(): void {
    this.#end();
  }
}

describe('turns', () => {
  it('are taken at once by those who share no server, one after the other by those who do', async () => {
    const turns = new Turns();
    const [first, apart, second] = [new Work(), new Work(), new Work()];
    const all = [
      turns.take(['a', 'd'], first.run),
      turns.take(['b', 'c'], apart.run),
      turns.take(['b', 'd'], second.run),
    ];
    assert.deepEqual([first.began, apart.began, second.began], [true, true, false]);
    first.end();
    await all[0];
    assert.equal(second.began, false, 'b is still taken');
    apart.end();
    await all[1];
    assert.equal(second.began, true);
    second.end();
    await all[2];
  });

  it('are not passed by: a server that somebody waits for is kept for him', async () => {
    const turns = new Turns();
    const [one, other, both, late] = [new Work(), new Work(), new Work(), new Work()];
    const all = [turns.take(['a'], one.run), turns.take(['b'], other.run), turns.take(['a', 'b'], both.run)];
    all.push(turns.take(['a'], late.run));
    one.end();
    await all[0];
    assert.equal(late.began, false);
    other.end();
    await all[1];
    assert.deepEqual([both.began, late.began], [true, false]);
    both.end();
    await all[2];
    assert.equal(late.began, true);
    late.end();
    await all[3];
  });

  it('go on after work that failed', async () => {
    const turns = new Turns();
    const failing = turns.take(['a'], async () => {
      throw new Error('failed');
    });
    const next = turns.take(['a'], async () => 'next');
    await assert.rejects(failing, /failed/);
    assert.equal(await next, 'next');
  });
});
