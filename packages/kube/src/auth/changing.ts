/** A text that may live in a file which others rewrite: tokens rotate, authorities are replaced. */
import { KubeError } from '../errors/errors.ts';
import type { Source } from '../kubeconfig/kubeconfig.ts';
import type { Clock, FileReader } from '../ports/ports.ts';

/** As client-go: a file is read again when what we know is this old. */
export const REREAD_MS = 60_000;

export class ChangingText {
  readonly #source: Source;
  readonly #ports: { readonly clock: Clock; readonly files: FileReader };
  #text: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(source: Source, ports: { readonly clock: Clock; readonly files: FileReader }) {
    this.#source = source;
    this.#ports = ports;
  }

  async get(): Promise<string> {
    if ('text' in this.#source) return this.#source.text;
    if (this.#text !== undefined && this.#ports.clock.now() - this.#readAt < REREAD_MS) return this.#text;
    const startedAt = this.#ports.clock.now();
    const { file } = this.#source;
    let problem: unknown;
    try {
      const text = await this.#ports.files.read(file);
      // An empty file is one that is being written.
      if (text !== undefined && text.trim() !== '') {
        // A slow read must not undo a faster one that began later.
        if (startedAt >= this.#readAt) {
          this.#text = text;
          this.#readAt = startedAt;
        }
        return this.#text ?? text;
      }
    } catch (error) {
      problem = error;
    }
    // While a file is being replaced the last content is the best there is; the server judges it.
    if (this.#text !== undefined) return this.#text;
    const why = problem === undefined ? 'is missing or empty' : 'cannot be read';
    throw new KubeError('KUBE_CREDENTIALS', `${file} ${why}`, { subjects: [file], cause: problem });
  }

  /** Makes the next `get` look again. False when there is nothing that could have changed. */
  expire(): boolean {
    if ('text' in this.#source) return false;
    this.#readAt = Number.NEGATIVE_INFINITY;
    return true;
  }
}
