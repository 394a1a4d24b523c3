/** What a RedisCluster asks for, with every default filled in. Pure. */
import type { RedisClusterSpec } from '../api/cluster.ts';
import type { Engine, Pace } from '../api/commands.ts';
import type { Refusal } from '@reeve/runtime';
import { type Product, productOfImage } from './image-problems.ts';

export interface Desired {
  readonly members: 'managed' | 'external';
  /** An agent in each pod. */
  readonly hasAgents: boolean;
  readonly image: string;
  /** What is in the image. Undefined: neither its name nor the spec says. */
  readonly product: Product | undefined;
  readonly primaries: number;
  readonly replicasPerPrimary: number;
  /** Nodes in all. */
  readonly size: number;
  readonly config: Readonly<Record<string, string>>;
  readonly resources: Readonly<Record<string, unknown>> | undefined;
  /** Of pods. Undefined: what fits the image. */
  readonly securityContext: Readonly<Record<string, unknown>> | undefined;
  readonly storage: RedisClusterSpec['storage'];
  readonly tls: RedisClusterSpec['tls'];
  /** Beside those of every cluster. */
  readonly users: readonly { readonly name: string; readonly rules: string }[];
  readonly spreadBy: readonly string[];
  readonly placement: RedisClusterSpec['placement'];
  readonly rebalance: { readonly mode: 'automatic' | 'off'; readonly threshold: number };
  readonly engine: Engine;
  readonly pace: Pace;
  readonly fix: 'automatic' | 'approve' | 'off';
  readonly creation: 'automatic' | 'manual';
  readonly deletionPolicy: 'Retain' | 'Delete';
}

const DEFAULT_THRESHOLD = 5;

export function desiredOf(spec: RedisClusterSpec): Desired {
  const { primaries, replicasPerPrimary = 1, product = 'valkey', version } = spec;
  const image = spec.image ?? (version === undefined ? product : `${product}:${version}`);
  return {
    members: spec.members ?? 'managed',
    hasAgents: spec.agents === 'sidecar',
    image,
    product: productOfImage(image) ?? spec.product,
    primaries,
    replicasPerPrimary,
    size: primaries * (1 + replicasPerPrimary),
    config: spec.config ?? {},
    resources: spec.resources,
    securityContext: spec.securityContext,
    storage: spec.storage,
    tls: spec.tls,
    users: (spec.auth?.users ?? []).map(({ name, rules }) => ({ name, rules })),
    spreadBy: spec.placement?.spreadBy ?? ['zone', 'host'],
    placement: spec.placement,
    rebalance: {
      mode: spec.rebalance?.mode ?? 'automatic',
      threshold: spec.rebalance?.threshold ?? DEFAULT_THRESHOLD,
    },
    engine: spec.migration?.engine ?? 'auto',
    pace: spec.migration?.pace ?? 'gentle',
    fix: spec.fix ?? 'automatic',
    creation: spec.creation ?? 'automatic',
    deletionPolicy: spec.deletionPolicy ?? 'Retain',
  };
}

/**
 * What the server of the API cannot see (a rule over the names of a map costs more than it allows). Nothing is done with a spec that has
 * problems: a directive with a line end in its name would be two.
 */
export function specProblems({ config = {} }: RedisClusterSpec): readonly Refusal[] {
  const wrong = Object.keys(config).filter((directive) => !/^[a-z][a-z0-9-]*$/.test(directive));
  if (wrong.length === 0) return [];
  const names = wrong.map((directive) => JSON.stringify(directive)).join(', ');
  const message = `spec.config: a directive has small letters, digits and dashes: ${names}`;
  return [{ code: 'CONFIG_INVALID', message, subjects: wrong }];
}
