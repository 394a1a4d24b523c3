/** Reads fields out of parsed YAML with a complaint that names file and field, never the value: it may be a secret. */
import { createRequire } from 'node:module';
import { KubeError } from '../errors/errors.ts';

/** Asked for by the first text, not by the start: it is 74 files, and a server that uses this package reads no YAML. */
const load = createRequire(import.meta.url);

/** YAML or JSON. Aliases are bounded by the parser, keys given twice refused. */
export function parseYaml(text: string, file: string): unknown {
  const { parseDocument } = load('yaml') as typeof import('yaml');
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false, strict: true });
  const problem = document.errors[0];
  if (problem) {
    const line = text.slice(0, problem.pos[0]).split('\n').length;
    // Not the parser's own message: it quotes the line, and there may be a token in it.
    throw new KubeError('KUBECONFIG_INVALID', `${file}: line ${line} is not YAML (${problem.code})`, {
      subjects: [file],
    });
  }
  return document.toJS({ maxAliasCount: 100 });
}

export class Fields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path = '') {
    this.#file = file;
    this.#path = path;
    if (value !== null && value !== undefined && (typeof value !== 'object' || Array.isArray(value))) {
      throw this.invalid('is not a map');
    }
    this.#value = (value ?? {}) as Readonly<Record<string, unknown>>;
  }

  text(name: string): string | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw this.invalid('is not a text (put it in quotes?)', name);
    return value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.invalid('is missing', name);
    return value;
  }

  flag(name: string): boolean {
    const value = this.#own(name) ?? false;
    if (typeof value !== 'boolean') throw this.invalid('is not true or false', name);
    return value;
  }

  map(name: string): Fields | undefined {
    const value = this.#own(name);
    return value === undefined || value === null ? undefined : new Fields(value, this.#file, this.#at(name));
  }

  /** Any value, unread. */
  raw(name: string): unknown {
    return this.#own(name);
  }

  maps(name: string): readonly Fields[] {
    return this.#list(name).map((item, index) => new Fields(item, this.#file, `${this.#at(name)}[${index}]`));
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((item) => {
      if (typeof item !== 'string') throw this.invalid('is not a list of texts', name);
      return item;
    });
  }

  names(): readonly string[] {
    return Object.keys(this.#value);
  }

  invalid(problem: string, name?: string): KubeError {
    const place = name === undefined ? this.#path : this.#at(name);
    return new KubeError('KUBECONFIG_INVALID', `${this.#file}: ${place || 'the document'} ${problem}`, {
      subjects: [this.#file],
    });
  }

  #list(name: string): readonly unknown[] {
    const value = this.#own(name) ?? [];
    if (!Array.isArray(value)) throw this.invalid('is not a list', name);
    return value as readonly unknown[];
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}
