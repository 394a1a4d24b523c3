/** The measured process: the embedded server on a store on disk. Answers over its channel with CPU time and memory. */
import { ApiServer, listen, sqliteJournal, Store, tokenAuthentication } from '@reeve/embedded';
import { systemKubePorts } from '@reeve/kube';

const [path = '', token = ''] = process.argv.slice(2);
const { clock, random } = systemKubePorts();
const store = await Store.open({ journal: sqliteJournal({ path }), clock });
const server = await ApiServer.open({ store, clock, random, authenticate: tokenAuthentication(token) });
const listener = await listen({ handle: (request) => server.handle(request) });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage().rss / 2 ** 20 });
});
process.on('disconnect', () => process.exit());
process.send?.({ url: listener.url.href });
