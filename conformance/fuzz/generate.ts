/** Random sequences of operations on one object. */
import type { Json } from '@reeve/kube';
import { apply, type Case, get, patch, post, remove, type Step } from '../case.ts';
import { thingDefinition } from '../areas/embedded-cases.ts';
import { merged } from '../merged.ts';
import { type FuzzKind, pickKind } from './kinds.ts';
import { type Fields, Random } from './random.ts';

const MANAGERS = ['a', 'b', 'c'];
const FEWEST = 3;
const MOST = 8;

export function sequence(seed: number, wanted?: string): Case {
  const random = new Random(seed);
  const kind = pickKind(random, wanted);
  const length = FEWEST + random.below(MOST - FEWEST + 1);
  const steps: Step[] = [first(random, kind)];
  while (steps.length < length) steps.push(operation(random, kind));
  return {
    name: `seed ${seed}: ${kind.kind}`,
    ...(kind.custom ? { definition: thingDefinition } : {}),
    // What is refused must change nothing: the end tells.
    steps: [...steps, get(`${kind.collection}/<id>`, { any: true })],
  };
}

const object = ({ apiVersion, kind, base }: FuzzKind, content: Fields): Fields =>
  merged({ apiVersion, kind, metadata: { name: '<id>', namespace: '<ns>' }, ...base() }, content) as Fields;

function first(random: Random, kind: FuzzKind): Step {
  const content = object(kind, kind.content(random));
  const by = random.pick(MANAGERS);
  const path = `${kind.collection}/<id>`;
  if (random.chance(0.6)) return apply(by, path, content, { any: true });
  const status = kind.status && random.chance(0.3) ? { status: kind.status(random) } : {};
  return post(kind.collection, { ...content, ...status }, { any: true, query: { fieldManager: by } });
}

function operation(random: Random, kind: FuzzKind): Step {
  const by = random.pick(MANAGERS);
  const viaStatus = kind.status !== undefined && random.chance(0.15);
  const path = `${kind.collection}/<id>`;
  const target = viaStatus ? `${path}/status` : path;
  const query = { fieldManager: by, ...(random.chance(0.05) ? { dryRun: 'All' } : {}) };
  const options = { any: true, query } as const;
  const roll = random.next();
  if (roll < 0.5) {
    const force = random.chance(0.5) ? { force: true as const } : {};
    const applied = object(kind, content(random, kind, viaStatus));
    return apply(by, target, applied, { ...options, ...force });
  }
  if (roll < 0.62) {
    const change = withNulls(random, content(random, kind, viaStatus), kind.custom);
    return { change, path, any: true, query, ...(viaStatus ? { subresource: 'status' } : {}) };
  }
  if (roll < 0.74)
    return patch('merge', target, withNulls(random, content(random, kind, viaStatus), kind.custom), options);
  if (roll < 0.8 && !kind.custom) return patch('strategic', target, content(random, kind, viaStatus), options);
  if (roll < 0.88) return patch('json', target, jsonSteps(random, kind, viaStatus), options);
  if (roll < 0.94) return remove(path, deletion(random), { any: true });
  return post(kind.collection, object(kind, kind.content(random)), options);
}

/** Also of the part that the path does not write: it must be ignored. */
function content(random: Random, kind: FuzzKind, viaStatus: boolean): Fields {
  const own = kind.content(random);
  const status = kind.status && (viaStatus || random.chance(0.2)) ? { status: kind.status(random) } : {};
  return { ...own, ...status };
}

/** Parts become null: they shall go. */
function withNulls(random: Random, value: Fields, isCustom: boolean): Fields {
  const names = ['labels', 'annotations', 'finalizers', 'data', 'text', 'settings', 'tags', 'items', 'nested', 'phase'];
  const entries = Object.entries(value).map(([name, one]): [string, Json] => {
    if (names.includes(name) && random.chance(0.25)) return [name, null];
    const isMap = typeof one === 'object' && one !== null && !Array.isArray(one);
    // Below the spec of a built-in kind something is always required.
    return [name, isMap && (isCustom || name === 'metadata') ? withNulls(random, one as Fields, isCustom) : one];
  });
  return Object.fromEntries(entries);
}

function jsonSteps(random: Random, kind: FuzzKind, viaStatus: boolean): Json {
  const label = `/metadata/labels/${random.word()}`;
  const own: readonly (() => Json)[] = [
    () => ({ op: 'add', path: label, value: random.word() }),
    () => ({ op: 'remove', path: label }),
    () => ({ op: 'replace', path: label, value: random.word() }),
    () => ({ op: 'test', path: label, value: random.word() }),
    () => ({ op: 'add', path: '/metadata/labels', value: random.map(() => random.word(), 1) }),
    () => ({ op: 'copy', from: label, path: `/metadata/labels/${random.word()}` }),
    () => ({ op: 'move', from: label, path: `/metadata/labels/${random.word()}` }),
  ];
  const custom: readonly (() => Json)[] = [
    () => ({ op: 'add', path: '/spec', value: (kind.content(random)['spec'] ?? {}) as Json }),
    () => ({ op: 'add', path: '/spec/words/-', value: random.word() }),
    () => ({ op: 'add', path: '/spec/words/0', value: random.word() }),
    () => ({ op: 'remove', path: '/spec/tags/0' }),
    () => ({ op: 'replace', path: '/spec/text', value: random.word() }),
    () => ({ op: 'remove', path: '/spec/items' }),
    () => ({ op: 'copy', from: '/spec/text', path: '/spec/nested/c' }),
  ];
  if (viaStatus && kind.status) return [{ op: 'add', path: '/status', value: kind.status(random) }];
  return random.some(() => random.pick(kind.custom ? [...own, ...custom] : own)(), 3, 1);
}

function deletion(random: Random): Json {
  const policy = random.pick(['Background', 'Foreground', 'Orphan', undefined]);
  return policy === undefined ? {} : { propagationPolicy: policy };
}
