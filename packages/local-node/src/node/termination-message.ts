/** Why a container ended, in its own words: what it wrote to the file that it was given, or the end of its log if its policy says so. */
import type { Mount } from '../driver/driver.ts';
import type { HostFiles } from '../host/host.ts';
import type { PodContainer } from '../pod/progress.ts';
import type { StoredPod } from '../pod/view.ts';

/** Bytes and lines, as the kubelet has them: of one container, of all of a pod, of a log. */
const MOST_BYTES = 4_096;
const MOST_BYTES_OF_POD = 12_288;
const MOST_LOG_BYTES = 2_048;
const MOST_LOG_LINES = 80;

const DEFAULT_PATH = '/dev/termination-log';

/** How the message of a container is found. */
export interface MessageRule {
  readonly fallsBackToLog: boolean;
  readonly mostBytes: number;
}

export function messageRuleOf({ spec }: StoredPod, { terminationMessagePolicy }: PodContainer): MessageRule {
  const containers = (spec?.containers.length ?? 0) + (spec?.initContainers?.length ?? 0);
  return {
    fallsBackToLog: terminationMessagePolicy === 'FallbackToLogsOnError',
    mostBytes: Math.min(MOST_BYTES, Math.floor(MOST_BYTES_OF_POD / Math.max(1, containers))),
  };
}

/**
 * The file as the container sees it. Every container has the default path by default; to have a file in `/dev`, all of `/dev` must be put
 * together anew, so it is there for those who name it in command, args or env. Undefined: nobody asks for it.
 */
export function messageMount(container: PodContainer, source: string): Mount | undefined {
  const target = container.terminationMessagePath ?? DEFAULT_PATH;
  if (target === '' || (target === DEFAULT_PATH && !names(container, target))) return undefined;
  return { source, target, isReadOnly: false, isFile: true };
}

function names({ command = [], args = [], env = [] }: PodContainer, path: string): boolean {
  const words = [...command, ...args, ...env.map(({ value }) => value ?? '')];
  return words.some((word) => word.includes(path));
}

/** Undefined: it said nothing. */
export async function readMessage(
  files: HostFiles,
  { fallsBackToLog, mostBytes }: MessageRule,
  from: { readonly file: string; readonly log: string },
  code: number,
): Promise<string | undefined> {
  const own = await endOf(files, from.file, mostBytes);
  if (own !== '') return own;
  if (!fallsBackToLog || code === 0) return undefined;
  const log = await endOf(files, from.log, Math.min(MOST_LOG_BYTES, mostBytes));
  const said = lastLines(log, MOST_LOG_LINES);
  return said === '' ? undefined : said;
}

async function endOf(files: HostFiles, path: string, most: number): Promise<string> {
  const { size } = (await files.stat(path)) ?? { size: 0 };
  if (size === 0) return '';
  const bytes = await files.readFrom(path, Math.max(0, size - most), most);
  return Buffer.from(bytes ?? []).toString('utf8');
}

export function lastLines(text: string, most: number): string {
  const lines = text.split('\n');
  // What follows the last line end is no line of its own.
  const extra = text.endsWith('\n') ? 1 : 0;
  return lines.slice(-(most + extra)).join('\n');
}
