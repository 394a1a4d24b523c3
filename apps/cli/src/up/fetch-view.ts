/** Shows what is fetched for pods: a line when it begins and when it ends; on a terminal a bar in between. */
import type { FetchNews } from '@reeve/local-node';
import { clip, formatDuration } from '../output/format.ts';

export interface FetchTarget {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: () => number;
}

const CLEAR_LINE = '\r\u001b[2K';
const BAR = 24;
const MEGABYTE = 1_000_000;

export class FetchView {
  readonly #target: FetchTarget;
  #isDrawn = false;

  constructor(target: FetchTarget) {
    this.#target = target;
  }

  readonly report = (news: FetchNews): void => {
    const { write, isTerminal, columns } = this.#target;
    if (news.state === 'coming') {
      if (!isTerminal) return;
      write(`${CLEAR_LINE}${clip(barLine(news), columns() - 1)}`);
      this.#isDrawn = true;
      return;
    }
    if (this.#isDrawn) write(CLEAR_LINE);
    this.#isDrawn = false;
    write(`${newsLine(news)}\n`);
  };
}

const size = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

export function barLine({ what, there, bytes }: FetchNews): string {
  const done = bytes === 0 ? 0 : Math.min(1, there / bytes);
  const full = Math.round(done * BAR);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${Math.floor(done * 100)} % of ${size(bytes)}`;
}

export function newsLine({ state, what, from, bytes, tookMs, why = '' }: FetchNews): string {
  if (state === 'failed') return `reeve: ${why}`;
  if (state === 'fetched') return `fetched ${what} in ${formatDuration(tookMs)}`;
  return `fetching ${what} from ${from}: ${size(bytes)}`;
}
