/** `reeve run`: the operators on a Kubernetes, until Ctrl-C. */
import { timestamp } from '@reeve/runtime';
import { Manager, serveHealth } from '@reeve/runtime/manager';
import { type CommandLine, STOPPING } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { addOperators, operators } from '../operators/operators.ts';
import { version } from '../version.ts';
import { DEFAULT_NAMESPACE, defaultInstallation, LEASE, manifestsText } from './manifests.ts';
import { demandGround, install, refuseOwnPlane } from './preflight.ts';
import type { runOptions } from './spec.ts';

export async function run({ words, values, io, signal }: CommandLine<typeof runOptions>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve run takes no '${words[0]}'`);
  const namespace = values.namespace ?? DEFAULT_NAMESPACE;
  if (values['print-manifests']) {
    io.out(manifestsText({ namespace, image: values.image ?? defaultInstallation.image }));
    return exit.ok;
  }
  if (values.image !== undefined) throw usage('--image is for --print-manifests');
  const listen = listenOn(values.listen);
  const { ports } = io;
  using connection = await io.connectApi({
    ...(values.kubeconfig !== undefined && { file: values.kubeconfig }),
    ...(values.context !== undefined && { context: values.context }),
  });
  const { client, transport } = connection;
  const ground = { client, namespace, clock: ports.clock, signal };
  await refuseOwnPlane(ground);
  for (const lack of values.install ? await install(ground) : []) io.err(`${lack}.\n`);
  await demandGround(ground);

  const identity = ports.ids.next(io.env.POD_NAME || 'reeve');
  const manager = new Manager(ports, {
    name: 'reeve',
    transport,
    election: { namespace, name: LEASE, identity },
    log: (message, fields) => io.err(`${timestamp(ports.clock.now())} ${message} ${JSON.stringify(fields)}\n`),
  });
  addOperators(manager, { ...ports, connect: io.connect, newPassword: io.newPassword });
  await using health = await listenAt(listen, () => serveHealth(manager, listen));
  io.out(
    [
      `operators   ${operators.map(({ name }) => name).join(', ')} (reeve ${version})`,
      `lease       ${namespace}/${LEASE}, as ${identity}`,
      `health      http://${hostText(health)}:${health.port}/livez /readyz /metrics`,
      '',
    ].join('\n'),
  );
  signal.addEventListener('abort', () => io.err(STOPPING), { once: true });
  await manager.run(signal);
  io.out('Stopped. What was begun is written down, and the next process goes on with it.\n');
  return exit.ok;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Also of an address of many colons, with or without its brackets: that is how a pod gets its own. */
export function listenOn(text: string | undefined): Place {
  if (text === undefined) return { host: '127.0.0.1', port: 0 };
  const at = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(0, at)).replace(/^\[(.*)\]$/, '$1');
  const port = Number(text.slice(at + 1));
  if (host === '' || text.endsWith(':') || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usage(`--listen is HOST:PORT, not '${text}'`);
  }
  return { host, port };
}

/** What a place can have against being listened on is told by name. */
export async function listenAt<T>({ host, port }: Place, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw cliError('PORT_IN_USE', `port ${port} of ${host} is in use`, [String(port)]);
      case 'EACCES':
        throw cliError('PORT_DENIED', `this user may not listen on port ${port} of ${host}`, [String(port)]);
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw cliError('ADDRESS_UNRESOLVED', `--listen: the name ${host} has no address`, [host]);
      // The second one: of an address that is good on one link only, and does not say which.
      case 'EADDRNOTAVAIL':
      case 'EINVAL':
        throw cliError('ADDRESS_ELSEWHERE', `--listen: this machine has no address ${host}`, [host]);
      default:
        throw error;
    }
  }
}

function hostText({ host }: Place): string {
  return host.includes(':') ? `[${host}]` : host;
}
