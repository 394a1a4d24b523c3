/** What tests do to etcd behind the API server's back, over its JSON gateway. */
import { ask } from './ask.ts';

/** Where kube-apiserver notes the revision it compacted last, and from where it learns of another's compaction. */
const COMPACTED = 'compact_rev_key';

/**
 * Forgets all history up to now, the way kube-apiserver does every five minutes: the note first, then the compaction. What the
 * server holds in memory it goes on serving; after a restart of it everything older answers 410.
 * @returns the revision up to which nothing but the present is left.
 */
export async function compactEtcd(url: string): Promise<string> {
  const { header } = await call(url, 'range', { key: base64(COMPACTED) });
  const { revision } = header;
  await call(url, 'put', { key: base64(COMPACTED), value: base64(revision) });
  await call(url, 'compaction', { revision, physical: true });
  return revision;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function call(url: string, method: string, body: object): Promise<{ header: { revision: string } }> {
  const { status, text } = await ask({ url: `${url}/v3/kv/${method}`, body, timeoutMs: 10_000 });
  if (status !== 200) throw new Error(`etcd: ${method} answered ${status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as { header: { revision: string } };
}
