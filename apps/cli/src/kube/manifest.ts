/** Objects out of files. */
import type { AnyObject } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { cliError, usage } from '../errors.ts';
import { fileProblem } from '../file-problem.ts';
import type { Io } from '../io.ts';
import { readDocuments } from './yaml.ts';

/** An object that says what it is and how it is called. */
export interface Manifest extends AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: AnyObject['metadata'] & { readonly name: string };
}

/** All of a file, or of stdin (`-`). Nothing is returned of a file that is not right as a whole. */
export async function readManifests(
  { io, signal }: Pick<CommandLine, 'io' | 'signal'>,
  path: string | undefined,
): Promise<readonly Manifest[]> {
  if (path === undefined) throw usage('no file given: -f FILE, or -f - for stdin');
  const manifests = manifestsOf(await textOf(io, path, signal), path === '-' ? 'stdin' : path);
  if (manifests.length === 0) throw cliError('MANIFEST_INVALID', `${path} holds no object`, [path]);
  return manifests;
}

async function pipedText(io: Io, signal: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of io.input(signal)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function textOf(io: Io, path: string, signal: AbortSignal): Promise<string> {
  if (path === '-') return pipedText(io, signal);
  let text: string | undefined;
  try {
    text = await io.ports.files.read(path);
  } catch (error) {
    const why = fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
    throw cliError('FILE_UNREADABLE', `${path}: ${why}`, [path]);
  }
  if (text === undefined) throw cliError('FILE_UNREADABLE', `${path}: there is no such file`, [path]);
  return text;
}

export function manifestsOf(text: string, file: string): readonly Manifest[] {
  const documents = readDocuments(text, file);
  return documents.flatMap((document, index) => {
    const where = documents.length === 1 ? file : `${file}, document ${index + 1}`;
    const items = itemsOf(document);
    if (!items) return [asManifest(document, where)];
    return items.map((item, at) => asManifest(item, `${where}, item ${at + 1}`));
  });
}

/** Of a `List`, as kubectl writes several objects. */
function itemsOf(document: unknown): readonly unknown[] | undefined {
  const { kind, apiVersion, items } = Object(document) as Partial<Record<string, unknown>>;
  return kind === 'List' && apiVersion === 'v1' && Array.isArray(items) ? (items as unknown[]) : undefined;
}

function asManifest(value: unknown, where: string): Manifest {
  const lack = (what: string) => cliError('MANIFEST_INVALID', `${where}: ${what}`, [where]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw lack('is no object');
  const { apiVersion, kind, metadata } = value as Partial<Manifest>;
  if (typeof apiVersion !== 'string' || apiVersion === '') throw lack('has no apiVersion');
  if (typeof kind !== 'string' || kind === '') throw lack('has no kind');
  const name: unknown = typeof metadata === 'object' && metadata !== null ? metadata.name : undefined;
  if (typeof name !== 'string' || name === '') throw lack(`${kind} has no metadata.name`);
  return value as Manifest;
}
