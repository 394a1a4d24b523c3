/** What happened, as a running hash (equal runs have equal hashes) and the last lines for people. */
export interface TraceLine {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly detail: string;
  readonly outcome: string;
}

export class Trace {
  #low = 0x811c9dc5;
  #high = 0x01000193;
  readonly #keep: number;
  #lines: TraceLine[] = [];

  /** Keeps at least the last `keep` lines. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  add(line: TraceLine): void {
    this.#mixNumber(line.at);
    this.#mix(line.who);
    this.#mix(line.what);
    this.#mix(line.detail);
    this.#mix(line.outcome);
    this.#lines.push(line);
    if (this.#lines.length > this.#keep * 2) this.#lines = this.#lines.slice(-this.#keep);
  }

  hash(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  lines(): readonly string[] {
    return this.#lines.slice(-this.#keep).map(formatLine);
  }

  #mixNumber(value: number): void {
    this.#low = Math.imul(this.#low ^ (value | 0), 0x01000193);
    this.#high = Math.imul(this.#high ^ Math.floor(value / 0x100000000) ^ this.#low, 0x85ebca6b);
  }

  #mix(text: string): void {
    let low = this.#low;
    for (let i = 0; i < text.length; i++) low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
    this.#low = Math.imul(low ^ text.length, 0x01000193);
    this.#high = Math.imul((this.#high ^ low) + 0x9e3779b9, 0x85ebca6b) ^ (this.#high >>> 13);
  }
}

function formatLine(line: TraceLine): string {
  return `+${line.at} ms ${line.who} ${line.what}${line.detail && ` ${line.detail}`} → ${line.outcome}`;
}
