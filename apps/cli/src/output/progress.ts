/** Shows a run while it runs: on a terminal one line that is rewritten, else a plain line every few seconds. */
import { countSlots, parseSlots, printCommand, type RedisCommand, type RunEvent } from '@reeve/redis';
import type { Clock } from '@reeve/runtime';
import { clip, formatCount, formatDuration } from './format.ts';
import { Rate } from './rate.ts';
import type { Style } from './style.ts';

export interface ProgressTarget {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: () => number;
  readonly style: Style;
  readonly clock: Clock;
}

interface Item {
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly note?: string;
}

const PLAIN_EVERY_MS = 5000;
const PLAIN_WIDTH = 160;
const CLEAR_LINE = '\r\u001b[2K';

/** Sums what several commands report in the same unit. */
export function sumItems(items: Iterable<Item>): Item | undefined {
  let sum: Item | undefined;
  for (const item of items) {
    if (!sum) sum = item;
    else if (sum.unit === item.unit) sum = { ...sum, done: sum.done + item.done, total: sum.total + item.total };
  }
  return sum;
}

export function progressLine(item: Item, perSecond: number | undefined, remainingMs: number | undefined): string {
  const percent = item.total > 0 ? Math.floor((100 * item.done) / item.total) : 100;
  const parts = [`${percent} %`, `${formatCount(item.done)} of ${formatCount(item.total)} ${item.unit}`];
  if (perSecond !== undefined) parts.push(`${formatCount(perSecond)} ${item.unit}/s`);
  if (remainingMs !== undefined && item.done < item.total) parts.push(`${formatDuration(remainingMs)} left`);
  if (item.note) parts.push(item.note);
  return parts.join(', ');
}

export class ProgressView {
  readonly #target: ProgressTarget;
  readonly #items = new Map<number, Item>();
  readonly #rate = new Rate();
  #live = '';
  #plainAt = Number.NEGATIVE_INFINITY;

  constructor(target: ProgressTarget) {
    this.#target = target;
  }

  readonly report = (event: RunEvent): void => {
    const { style } = this.#target;
    switch (event.event) {
      case 'observed':
        return;
      case 'waiting':
        for (const { message } of event.waitingFor) this.#print(style.dim(this.#fit(`  waiting: ${message}`)));
        return;
      case 'started':
        this.#print(this.#fit(`  ${printCommand(event.command)}`));
        this.#expect(event.number, event.command);
        return;
      case 'progress':
        this.#items.set(event.number, event);
        this.#show();
        return;
      case 'ended':
        this.#ended(event);
    }
  };

  /** Lines that say what goes on may be cut; those that say what went wrong are not. */
  #fit(line: string): string {
    return clip(line, this.#target.isTerminal ? this.#target.columns() : PLAIN_WIDTH);
  }

  /** What was started counts from the start, so that the total does not grow while the first commands report. */
  #expect(number: number, command: RedisCommand): void {
    if (command.type !== 'migrate-slots') return;
    this.#items.set(number, { done: 0, total: countSlots(parseSlots(command.slots) ?? []), unit: 'slots' });
  }

  #ended(event: Extract<RunEvent, { event: 'ended' }>): void {
    const { style } = this.#target;
    const item = this.#items.get(event.number);
    if (item && event.status === 'done') this.#items.set(event.number, { ...item, done: item.total });
    if (event.status === 'done') {
      if (event.message) this.#print(`  ${event.command.type} done: ${event.message}`);
      return;
    }
    const paint = event.status === 'failed' ? style.red : style.yellow;
    this.#print(paint(`  ${event.command.type} ${event.status}: ${event.message ?? ''}`));
  }

  /** Ends the live line, so that what follows starts on a line of its own. */
  end(): void {
    this.#wipe();
  }

  /** A line among the progress, which stays. */
  #print(line: string): void {
    const live = this.#live;
    this.#wipe();
    this.#target.write(`${line}\n`);
    if (live !== '') this.#draw(live);
  }

  #show(): void {
    const sum = sumItems(this.#items.values());
    if (!sum) return;
    const now = this.#target.clock.now();
    this.#rate.add(now, sum.done);
    const line = `  ${progressLine(sum, this.#rate.perSecond(), this.#rate.remainingMs(sum.total))}`;
    if (this.#target.isTerminal) {
      this.#wipe();
      this.#draw(line);
    } else if (now - this.#plainAt >= PLAIN_EVERY_MS) {
      this.#plainAt = now;
      this.#target.write(`${line}\n`);
    }
  }

  #draw(line: string): void {
    this.#live = line;
    this.#target.write(clip(line, this.#target.columns() - 1));
  }

  #wipe(): void {
    if (this.#live === '') return;
    this.#live = '';
    this.#target.write(CLEAR_LINE);
  }
}
