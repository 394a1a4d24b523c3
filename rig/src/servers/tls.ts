/** Throw-away certificates for loopback servers: a CA, and one key pair that serves as server and as client certificate. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOrThrow } from '../binaries/run.ts';
import { temporaryFolder } from './process.ts';

export interface Certificates {
  readonly folder: string;
  /** PEM texts. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** The same as files, for command lines. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export async function makeCertificates(addresses: readonly string[] = ['127.0.0.1']): Promise<Certificates> {
  const folder = temporaryFolder('tls');
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => runOrThrow('openssl', args, { cwd: folder });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...curve,
    '-days',
    '30',
    '-subj',
    '/CN=Reeve test CA',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
  );
  await openssl('req', ...curve, '-subj', '/CN=reeve-test', '-keyout', 'server.key', '-out', 'server.csr');
  const names = ['DNS:localhost', ...addresses.map((address) => `IP:${address}`)].join(',');
  writeFileSync(path('extensions'), `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'extensions'];
  await openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.crt');
  return {
    folder,
    ca: readFileSync(path('ca.crt'), 'utf8'),
    cert: readFileSync(path('server.crt'), 'utf8'),
    key: readFileSync(path('server.key'), 'utf8'),
    caFile: path('ca.crt'),
    certFile: path('server.crt'),
    keyFile: path('server.key'),
  };
}
