/** `node rig/src/fetch.ts`: fetches or builds every program the tests and benchmarks use and prints what was found. */
import { pathWithBubblewrap } from './binaries/bubblewrap.ts';
import { cacheFolder } from './binaries/cache.ts';
import { redisCli, redisServer, valkeyCli, valkeyServer } from './binaries/find.ts';
import { kubeProgram } from './kube/programs.ts';

const programs = [
  await valkeyServer(),
  await valkeyServer({ tls: true }),
  await redisServer(),
  await redisCli(),
  await valkeyCli(),
  await kubeProgram('etcd'),
  await kubeProgram('kube-apiserver'),
  await kubeProgram('kube-controller-manager'),
  await kubeProgram('kubectl'),
];
for (const program of programs) {
  if (program)
    process.stdout.write(`${program.name.padEnd(32)} ${program.origin.padEnd(18)} ${program.tls ? 'TLS' : 'no TLS'}\n`);
  else process.stdout.write('valkey-cli                       not to be had: redis-cli is used in its place\n');
}
await pathWithBubblewrap();
process.stdout.write(`cache: ${cacheFolder()}\n`);
