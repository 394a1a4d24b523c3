/** `reeve apply`: objects become what a file says, by server-side apply. */
import { type AnyObject, isKubeError, type KubeError, type Stored } from '@reeve/kube';
import type { ReeveError } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { reportError } from '../output/report.ts';
import { type Api, withApi } from './api.ts';
import { type Manifest, readManifests } from './manifest.ts';
import { nameOf, objectsText } from './print.ts';
import { type Home, homeOf } from './served.ts';
import type { applyOptions } from './spec.ts';

type ApplyLine = CommandLine<typeof applyOptions>;

export async function run(line: ApplyLine): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  if (words.length > 0) throw usage(`reeve apply takes no '${words[0]}': -f FILE`);
  const manifests = await readManifests(line, values.file);
  return withApi(line, async (api) => {
    let failed = 0;
    let hasDefinitions = false;
    const done: AnyObject[] = [];
    try {
      for (const manifest of manifests) {
        try {
          done.push(await applyOne(line, api, manifest, hasDefinitions && !values['dry-run']));
          hasDefinitions ||= manifest.kind === 'CustomResourceDefinition';
        } catch (error) {
          signal.throwIfAborted();
          // Nothing will come of the others either.
          if (manifests.length === 1 || isKubeError(error, 'KUBE_UNREACHABLE', 'KUBE_UNAUTHORIZED', 'KUBE_TLS')) {
            throw error;
          }
          failed++;
          await reportError(io, error);
        }
      }
    } finally {
      // One document, whatever became of the rest.
      const isList = manifests.length > 1;
      if (isDocument(values.output) && (isList || done.length > 0)) io.out(objectsText(done, values.output, isList));
    }
    return failed === 0 ? exit.ok : exit.failed;
  });
}

const isDocument = (form: string | undefined): form is 'json' | 'yaml' => form === 'json' || form === 'yaml';

async function applyOne(line: ApplyLine, api: Api, manifest: Manifest, mayCome: boolean): Promise<AnyObject> {
  const { io, values, signal } = line;
  const { clock } = io.ports;
  const home = await homeOf(api, manifest, { given: values.namespace, mayCome, clock, signal });
  const { name } = manifest.metadata;
  const before = await home.client.find(name, { signal });
  const isDryRun = values['dry-run'];
  const after = await applied(home, manifest, { dryRun: isDryRun, force: values.force, signal });
  const { output } = values;
  if (output === 'name') io.out(`${nameOf(after)}\n`);
  else if (!isDocument(output)) io.out(`${nameOf(after)} ${outcome({ before, after, manifest, isDryRun })}\n`);
  return after;
}

async function applied(
  { client }: Home,
  manifest: Manifest,
  options: { readonly dryRun: boolean; readonly force: boolean; readonly signal: AbortSignal },
): Promise<Stored<AnyObject>> {
  try {
    return await client.apply(manifest, { ...options, fieldManager: 'reeve' });
  } catch (error) {
    if (isKubeError(error, 'KUBE_CONFLICT')) throw conflict(manifest, error) ?? error;
    throw error;
  }
}

/** Whose the fields are, in the server's words; undefined: another kind of conflict. */
export function conflict(manifest: AnyObject, { status }: KubeError): ReeveError | undefined {
  const causes = (status?.details?.causes ?? []).filter(({ reason }) => reason === 'FieldManagerConflict');
  if (causes.length === 0) return undefined;
  const owners = new Map<string, string[]>();
  for (const { message = '', field = '' } of causes) {
    const owner = /^conflict with (.*)$/.exec(message)?.[1] ?? message;
    owners.set(owner, [...(owners.get(owner) ?? []), field]);
  }
  const lines = [...owners].map(([owner, fields]) => `  ${fields.join(', ')}: of ${owner}`);
  const what = nameOf(manifest);
  return cliError('APPLY_CONFLICT', [`${what} has fields of others:`, ...lines].join('\n'), [what]);
}

interface Applied {
  readonly before: AnyObject | undefined;
  readonly after: AnyObject;
  readonly manifest: AnyObject;
  readonly isDryRun: boolean;
}

export function outcome({ before, after, manifest, isDryRun }: Applied): string {
  if (!before) return isDryRun ? 'would be created' : 'created';
  // Its status, and so its version, may have been written meanwhile by whoever keeps it.
  const parts = ({ status, ...rest }: AnyObject) => contentOf('status' in manifest ? { ...rest, status } : rest);
  if (parts(before) === parts(after)) return 'unchanged';
  return isDryRun ? 'would be changed' : 'changed';
}

/** Without what the server counts by itself. */
function contentOf({ metadata, ...rest }: AnyObject): string {
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  const sorted = (_name: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify({ ...rest, metadata: kept }, sorted);
}
