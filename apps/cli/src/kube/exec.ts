/** `reeve exec`: a command in a container, its outputs here, its exit code ours. */
import { isKubeError, KubeError, type KubeSocket, resource, resourcePath, type Status } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Api, withApi } from './api.ts';
import { containerIn, podName } from './logs.ts';
import type { execOptions } from './spec.ts';

type ExecLine = CommandLine<typeof execOptions>;

const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
const PROTOCOL = 'v5.channel.k8s.io';
/** The first byte of every message says what it is. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;
/** Of one message. */
const MOST_INPUT = 32 * 1024;

export async function run(line: ExecLine): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  const [word, ...command] = words;
  if (word === undefined || command.length === 0) throw usage('reeve exec takes POD -- COMMAND…');
  const name = podName(word);
  return withApi(line, async (api) => {
    const pod = await api.client.resource(pods, api.namespace).get(name, { signal });
    const container = containerIn(pod, values.container);
    const query = new URLSearchParams([
      ...command.map((one): [string, string] => ['command', one]),
      ...(container === undefined ? [] : [['container', container] as [string, string]]),
      ...(values.stdin ? [['stdin', 'true'] as [string, string]] : []),
      ['stdout', 'true'],
      ['stderr', 'true'],
    ]);
    const path = `${resourcePath(pods, api.namespace, name, 'exec')}?${query.toString()}`;
    using socket = await openSocket(api, path, signal);
    const heard = hear(io, socket, signal);
    if (!values.stdin) return await heard;
    return await whileSending(heard, (over) => sendInput(io, socket, AbortSignal.any([signal, over])));
  });
}

/** A command may end before its input does: then nobody reads that any more. */
async function whileSending<T>(heard: Promise<T>, send: (over: AbortSignal) => Promise<void>): Promise<T> {
  const over = new AbortController();
  try {
    await Promise.race([heard, send(over.signal)]);
    return await heard;
  } finally {
    over.abort();
  }
}

/** A refused socket is not told why; a plain request is. */
async function openSocket(api: Api, path: string, signal: AbortSignal): Promise<KubeSocket> {
  try {
    return await api.socket({ path, protocols: [PROTOCOL], signal });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_REFUSED')) throw error;
    try {
      using _answer = await api.client.stream(path, { signal });
    } catch (told) {
      // That it should have been a socket is what we know already.
      if (!isKubeError(told, 'KUBE_INVALID') || !/upgrade/i.test(told.message)) throw told;
    }
    throw error;
  }
}

async function sendInput(io: Io, socket: KubeSocket, signal: AbortSignal): Promise<void> {
  for await (const bytes of io.input(signal)) {
    for (let at = 0; at < bytes.length; at += MOST_INPUT) {
      await socket.send(Buffer.concat([Buffer.of(CHANNEL.stdin), bytes.subarray(at, at + MOST_INPUT)]));
    }
  }
  await socket.send(Buffer.of(CHANNEL.close, CHANNEL.stdin));
}

async function hear(io: Io, { messages }: KubeSocket, signal: AbortSignal): Promise<ExitCode> {
  let ended: Status | undefined;
  for await (const message of messages) {
    const rest = message.subarray(1);
    if (message[0] === CHANNEL.stdout) await io.pass('out', rest, signal);
    else if (message[0] === CHANNEL.stderr) await io.pass('err', rest, signal);
    else if (message[0] === CHANNEL.error) ended = JSON.parse(Buffer.from(rest).toString()) as Status;
  }
  if (!ended) signal.throwIfAborted();
  if (!ended) throw new KubeError('KUBE_CONNECTION_LOST', 'how the command ended was not told');
  return exitCodeOf(ended);
}

/** That of the command; what else went wrong is an error. */
export function exitCodeOf(ended: Status): ExitCode {
  if (ended.status === 'Success') return exit.ok;
  const code = ended.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code !== undefined && /^\d+$/.test(code)) return Number(code);
  throw new KubeError('KUBE_REFUSED', `exec: ${ended.message ?? ended.reason ?? 'failed'}`, { status: ended });
}
