/** What is served at the moment: the built-in kinds, and the custom ones whose definitions are in the store. */
import { type Draft, textOf } from '../object/draft.ts';
import { type CustomRules, customKind } from './custom.ts';
import { type Kind, type KindVersion, prefixOf } from './kind.ts';

/** A kind in one of its versions. The same object as long as nothing about the kind changes. */
export interface Served {
  readonly kind: Kind;
  readonly version: KindVersion;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** How its objects begin. */
  readonly prefix: string;
}

export class Registry {
  readonly #builtin: readonly Kind[];
  readonly #rulesOf: CustomRules;
  /** By the name of the definition. */
  readonly #custom = new Map<string, Kind>();
  #served: ReadonlyMap<string, Served>;
  #kinds: readonly Kind[];

  constructor(builtin: readonly Kind[], rulesOf: CustomRules) {
    this.#builtin = builtin;
    this.#rulesOf = rulesOf;
    this.#kinds = builtin;
    this.#served = index(builtin, new Map());
  }

  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  find(group: string, version: string, plural: string): Served | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  /** By the name of the kind, not of its collection. */
  findKind(apiVersion: string, kind: string): Served | undefined {
    for (const served of this.#served.values()) {
      if (served.apiVersion === apiVersion && served.kind.kind === kind) return served;
    }
    return undefined;
  }

  /** Whether a group, or one of its versions, is served at all. */
  has(group: string, version?: string): boolean {
    return this.kinds.some(
      (kind) => kind.group === group && (version === undefined || kind.versions.some(({ name }) => name === version)),
    );
  }

  define(crd: Draft): void {
    const name = textOf(crd.metadata.name);
    const kind = customKind(crd, this.#rulesOf);
    if (kind === undefined) this.#custom.delete(name);
    else this.#custom.set(name, kind);
    this.#index();
  }

  undefine(name: string): void {
    this.#custom.delete(name);
    this.#index();
  }

  #index(): void {
    this.#kinds = [...this.#builtin, ...this.#custom.values()];
    this.#served = index(this.#kinds, this.#served);
  }
}

function index(kinds: readonly Kind[], before: ReadonlyMap<string, Served>): ReadonlyMap<string, Served> {
  return new Map(
    kinds.flatMap((kind) =>
      kind.versions.map((version): [string, Served] => {
        const path = `${kind.group}/${version.name}/${kind.plural}`;
        const same = before.get(path);
        if (same?.version === version) return [path, same];
        const apiVersion = kind.group === '' ? version.name : `${kind.group}/${version.name}`;
        return [path, { kind, version, apiVersion, prefix: prefixOf(kind, apiVersion) }];
      }),
    ),
  );
}
