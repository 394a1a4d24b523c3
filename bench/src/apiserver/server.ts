/** The measured process: the embedded server on a store on disk, over TLS, with users by certificate and roles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AccessControl,
  ApiServer,
  listen,
  openSigningKey,
  releaseStartMemory,
  sqliteJournal,
  Store,
} from '@reeve/embedded';
import { systemKubePorts } from '@reeve/kube';

const [folder = '', port = '', certFile = '', keyFile = '', caFile = ''] = process.argv.slice(2);
const { clock, random } = systemKubePorts();
const onError = (error: unknown) => console.error(error);
const store = await Store.open({ journal: sqliteJournal({ path: join(folder, 'store.db') }), clock, onError });
const keys = [await openSigningKey(join(folder, 'service-accounts.key'))] as const;
const access = new AccessControl({ store, clock, random, keys });
const server = await ApiServer.open({ store, clock, random, access, onError });
await access.install(server.transport(), onError);
const pem = (file: string) => readFileSync(file, 'utf8');
await listen({
  handle: (request, certificate) => server.handle(request, certificate),
  port: Number(port),
  tls: { cert: pem(certFile), key: pem(keyFile), clientCa: pem(caFile) },
  onError,
});
// Not before the first ones are served who waited for it.
setTimeout(releaseStartMemory, 1_000);
// Whoever started it holds its input.
process.stdin.resume().on('end', () => process.exit());
