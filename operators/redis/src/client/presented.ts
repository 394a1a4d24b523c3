/** Which certificate a server shows. Nothing is sent to it, so whom it belongs to does not matter here. */
import { connect, type TLSSocket } from 'node:tls';
import type { TlsAccess } from '../api/certificates.ts';
import type { Endpoint } from '../api/view.ts';

/** By Node's own timer: it belongs to a real socket, and where time is simulated `Certificates` is another one. */
const PATIENCE_MS = 3_000;

export function presentedCertificate({ host, port }: Endpoint, access: TlsAccess): Promise<string | undefined> {
  return new Promise((resolve) => {
    const { servername, ca, cert, key } = access;
    let socket: TLSSocket;
    try {
      socket = connect({ host, port, servername, ca, cert, key, rejectUnauthorized: false });
    } catch {
      return resolve(undefined); // with this nobody can be asked; what the parser says could quote the key
    }
    const end = (fingerprint: string | undefined) => {
      socket.destroy();
      resolve(fingerprint);
    };
    socket.setTimeout(PATIENCE_MS, () => end(undefined));
    socket.on('error', () => end(undefined));
    socket.once('secureConnect', () => end(socket.getPeerX509Certificate()?.fingerprint256));
  });
}
