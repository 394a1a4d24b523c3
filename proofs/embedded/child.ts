/** The process that is killed: a server on a store on disk. Says on its output where it listens. */
import { ApiServer, listen, sqliteJournal, Store, tokenAuthentication } from '@reeve/embedded';
import { systemKubePorts } from '@reeve/kube';

const [path = '', token = ''] = process.argv.slice(2);
const { clock, random } = systemKubePorts();
// A window small enough that compaction happens under the writes, too.
const history = { maxEvents: 20_000, maxBytes: 8 * 1024 * 1024 };
// A log so small that it is folded into the database under the writes.
const journal = sqliteJournal({ path, logBytes: 128 * 1024 });
const store = await Store.open({ journal, clock, history });
const server = await ApiServer.open({ store, clock, random, authenticate: tokenAuthentication(token) });
const listener = await listen({ handle: (request) => server.handle(request) });
process.stdout.write(`${JSON.stringify({ url: listener.url.href, revision: store.revision })}\n`);
