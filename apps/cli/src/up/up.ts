/** `reeve up`: the control plane, until Ctrl-C. */
import { availableParallelism, homedir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { systemHost } from '@reeve/local-node';
import { asReeveError } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import type { upOptions } from './spec.ts';

interface UpLine {
  readonly words: readonly string[];
  readonly values: Values<typeof upOptions>;
  readonly io: Io;
  readonly signal: AbortSignal;
}

const NODES = 3;

export async function up({ words, values, io, signal }: UpLine): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve up takes no '${words[0]}'`);
  const { env, ports } = io;
  const states = env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  await using plane = await ControlPlane.open(
    { ...ports, host: systemHost(env.PATH) },
    {
      data: resolve(values.data ?? join(states, 'reeve', 'local')),
      port: values.port,
      nodes: values.nodes ?? NODES,
      driver: values.driver as ControlPlaneOptions['driver'],
      zones: (values.zones ?? '').split(',').filter((zone) => zone !== ''),
      machine: { cores: availableParallelism(), memoryBytes: totalmem() },
      onError: (error) => io.err(`reeve: ${asReeveError(error).message}\n`),
      log: (message, fields) => {
        if (values.verbose) io.err(`${message} ${JSON.stringify(fields)}\n`);
      },
    },
  );
  io.out(welcome(plane));
  await new Promise<void>((stop) => {
    if (signal.aborted) stop();
    else signal.addEventListener('abort', () => stop(), { once: true });
  });
  io.out('Stopped. Pods go on; the next `reeve up` with the same folder takes them over.\n');
  return exit.ok;
}

function welcome({ url, folder, nodes, detected }: ControlPlane): string {
  const [driver] = detected.drivers;
  const pods = nodes.reduce((sum, node) => sum + node.podKeys.length, 0);
  const lines = [
    `API         ${url}`,
    `kubeconfig  ${folder.kubeconfig}`,
    `data        ${folder.path}`,
    `nodes       ${nodes.length}, pods as processes (${driver.name})${pods > 0 ? `, ${pods} pods taken over` : ''}`,
    ...(driver.name === 'plain' ? [`            pods with mounts need more: ${detected.remedy}`] : []),
    '',
    'Go on from another terminal:',
    '',
    `  export KUBECONFIG=${folder.kubeconfig}`,
    '  kubectl get nodes',
    '',
    'Ctrl-C stops the control plane; pods go on.',
    '',
  ];
  return lines.join('\n');
}
