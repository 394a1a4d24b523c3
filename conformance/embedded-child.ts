/** The embedded server in a process of its own. Says on its output where it listens; ends with its input. */
import { generateKeyPairSync } from 'node:crypto';
import { AccessControl, ApiServer, listen, memoryJournal, type SigningKey, signingKey, Store } from '@reeve/embedded';
import { systemKubePorts } from '@reeve/kube';
import { makeCertificates } from '@reeve/rig';

const [token = '', name = '', ...groups] = process.argv.slice(2);
const { clock, random } = systemKubePorts();
const onError = (error: unknown): void => console.error(error);
const store = await Store.open({ journal: memoryJournal(), clock, onError });
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const access = new AccessControl({
  store,
  clock,
  random,
  keys: [signingKey(privateKey) as SigningKey],
  // As the rig's server has it.
  issuer: 'https://kubernetes.default.svc',
  tokens: [{ token, user: { name, groups } }],
  // As the real server is by default.
  anonymous: true,
});
const server = await ApiServer.open({ store, clock, random, access, onError });
await access.install(server.transport(), onError);
const { ca, cert, key } = await makeCertificates();
const listener = await listen({
  handle: (request, certificate) => server.handle(request, certificate),
  tls: { cert, key },
  onError,
});
process.stdin.resume().on('end', () => process.exit());
process.stdout.write(`${JSON.stringify({ url: listener.url.origin, ca })}\n`);
