/** `reeve delete`: objects by name or by file, each by its uid. */
import {
  type AnyObject,
  isKubeError,
  isStatus,
  type ResourceClient,
  type ServedResource,
  servedResources,
} from '@reeve/kube';
import { deadline } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { reportError } from '../output/report.ts';
import { type Api, withApi } from './api.ts';
import { kindWord, readWanted, resolveKind } from './kinds.ts';
import { readManifests } from './manifest.ts';
import { homeOf } from './served.ts';
import type { deleteOptions } from './spec.ts';

type DeleteLine = CommandLine<typeof deleteOptions>;

interface Victim {
  readonly kind: ServedResource;
  readonly client: ResourceClient<AnyObject>;
  readonly name: string;
}

const POLICIES = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;
const LOOK_AGAIN_MS = 200;

export async function run(line: DeleteLine): Promise<ExitCode> {
  const { io, values, words } = line;
  if (words.length > 0 && values.file !== undefined) throw usage('a name and --file exclude each other');
  if (values.timeout !== undefined && !values.wait) throw usage('--timeout is for --wait');
  return withApi(line, async (api) => {
    const victims = values.file === undefined ? await named(line, api) : await filed(line, api);
    let failed = 0;
    for (const victim of victims) {
      try {
        await deleteOne(line, victim);
      } catch (error) {
        line.signal.throwIfAborted();
        if (victims.length === 1) throw error;
        failed++;
        await reportError(io, error);
      }
    }
    return failed === 0 ? exit.ok : exit.failed;
  });
}

async function named({ words, signal }: DeleteLine, api: Api): Promise<readonly Victim[]> {
  const wanted = readWanted(words);
  const all = wanted.find(({ names }) => names.length === 0);
  if (all) throw usage(`no name given: ${all.kind} NAME…`);
  const served = await servedResources(api.client, { signal });
  return wanted.flatMap(({ kind: word, names }) => {
    const kind = resolveKind(served, word);
    const client = api.client.resource(kind, kind.namespaced ? api.namespace : undefined);
    return names.map((name) => ({ kind, client, name }));
  });
}

async function filed(line: DeleteLine, api: Api): Promise<readonly Victim[]> {
  const { io, values, signal } = line;
  const victims: Victim[] = [];
  const options = { given: values.namespace, mayCome: false, clock: io.ports.clock, signal };
  for (const manifest of await readManifests(line, values.file)) {
    victims.push({ ...(await homeOf(api, manifest, options)), name: manifest.metadata.name });
  }
  return victims;
}

async function deleteOne({ io, values, signal }: DeleteLine, { kind, client, name }: Victim): Promise<void> {
  const what = `${kindWord(kind)}/${name}`;
  const live = await client.find(name, { signal });
  if (!live) {
    if (values['ignore-not-found']) return;
    throw cliError('NOT_THERE', `${what} is not there`, [what]);
  }
  const { uid } = live.metadata;
  const propagationPolicy = POLICIES[(values.cascade ?? 'background') as keyof typeof POLICIES];
  let isGone: boolean;
  try {
    isGone = isStatus(await client.delete(name, { uid, propagationPolicy, signal }));
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    isGone = true; // somebody else was faster
  }
  if (!isGone && values.wait) {
    await waitUntilGone(client, name, uid, { io, values, signal }, what);
    isGone = true;
  }
  io.out(`${what} ${isGone ? 'deleted' : 'is being deleted'}\n`);
}

async function waitUntilGone(
  client: ResourceClient<AnyObject>,
  name: string,
  uid: string,
  { io, values, signal }: Pick<DeleteLine, 'io' | 'values' | 'signal'>,
  what: string,
): Promise<void> {
  const { clock } = io.ports;
  const { timeout } = values;
  const reason = () => cliError('WAIT_TIMEOUT', `${what} is not gone after ${timeout} s`, [what]);
  using limit = timeout === undefined ? undefined : deadline(clock, timeout * 1_000, reason, signal);
  const until = limit?.signal ?? signal;
  // One of the same name that came since is another one.
  while ((await client.find(name, { signal: until }))?.metadata.uid === uid) {
    await clock.sleep(LOOK_AGAIN_MS, until);
  }
}
