/** From the word that somebody typed to the kind that is meant. */
import type { ServedResource } from '@reeve/kube';
import { nearest } from '../args.ts';
import { cliError, usage } from '../errors.ts';

/** `pods`, `pod`, `po`, `Pod`; with a group `statefulsets.apps`, with a version besides `statefulsets.v1.apps`. */
export function resolveKind(served: readonly ServedResource[], word: string): ServedResource {
  const wanted = word.toLowerCase();
  const [name = '', ...rest] = wanted.split('.');
  const group = rest.join('.');
  const isIn = (one: ServedResource): boolean =>
    group === '' || one.group === group || (`${one.version}.${one.group}` === group && one.group !== '');
  for (const isNamed of [byPlural, bySingular, byShortName]) {
    const found = served.filter((one) => isIn(one) && isNamed(one, name));
    // Groups of Kubernetes itself that repeat a kind of the core group mean the same objects.
    const [first, ...others] = found.filter((one) => one.group === '').concat(found.filter((one) => one.group !== ''));
    if (first && (others.length === 0 || first.group === '')) return first;
    if (first) {
      const names = found.map(fullName);
      throw cliError('KIND_AMBIGUOUS', `'${word}' may be ${names.join(' or ')}`, names);
    }
  }
  const near = nearest(name, [...new Set(served.flatMap(({ plural, singular }) => [plural, singular]))]);
  const hint = near === undefined || near === '' ? '' : `; did you mean ${near}?`;
  throw cliError('KIND_UNKNOWN', `there is no kind '${word}'${hint}`, [word]);
}

const byPlural = ({ plural }: ServedResource, name: string): boolean => plural === name;
const bySingular = ({ singular, kind }: ServedResource, name: string): boolean =>
  singular === name || kind.toLowerCase() === name;
const byShortName = ({ shortNames }: ServedResource, name: string): boolean => shortNames.includes(name);

/** How outputs name a kind: `pod`, `statefulset.apps`. */
export function kindWord({ kind, group }: Pick<ServedResource, 'kind' | 'group'>): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

const fullName = ({ plural, group }: ServedResource): string => (group === '' ? plural : `${plural}.${group}`);

/** What a command line names: a kind, and some of its objects or all. */
export interface Wanted {
  readonly kind: string;
  /** None: all. */
  readonly names: readonly string[];
}

/** `KIND[,KIND…] [NAME…]` or `KIND/NAME…`. */
export function readWanted(words: readonly string[]): readonly Wanted[] {
  const [first, ...names] = words;
  if (first === undefined) throw usage('no kind given: KIND [NAME…] or KIND/NAME…');
  if (first.includes('/')) {
    const wanted = new Map<string, string[]>();
    for (const word of words) {
      const [kind = '', name = '', ...more] = word.split('/');
      if (kind === '' || name === '' || more.length > 0) throw usage(`'${word}' is not KIND/NAME`);
      wanted.set(kind, [...(wanted.get(kind) ?? []), name]);
    }
    return [...wanted].map(([kind, some]) => ({ kind, names: some }));
  }
  const kinds = first.split(',').filter((kind) => kind !== '');
  if (kinds.length === 0) throw usage(`'${first}' names no kind`);
  const odd = names.find((name) => name === '' || name.includes('/'));
  if (odd !== undefined) throw usage(`'${odd}' is no name: KIND NAME… or KIND/NAME…, not both`);
  if (kinds.length > 1 && names.length > 0) throw usage('several kinds and a name: use KIND/NAME…');
  return kinds.map((kind) => ({ kind, names }));
}
