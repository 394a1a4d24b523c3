/** What is known of clusters, for Prometheus: as it was seen last, when somebody scrapes. */
import type { Reading, Registry } from '@reeve/runtime/manager';
import type { Finding } from '../api/findings.ts';

export interface SeenCluster {
  /** Undefined: nobody could ask the servers. Of what is not known there is no number, least of all 0. */
  readonly looked: LookedAt | undefined;
  readonly operation?: string | undefined;
}

interface LookedAt {
  readonly findings: readonly Pick<Finding, 'code' | 'severity'>[];
  readonly primaries: number;
  readonly replicas: number;
  readonly slots: number;
}

export class ClusterMetrics {
  readonly #seen = new Map<string, SeenCluster>();

  constructor(registry: Pick<Registry, 'read'> | undefined) {
    registry?.read('reeve_redis_findings', 'What the check found, by code and severity.', () => this.#looked(findings));
    registry?.read('reeve_redis_slots_served', 'Slots with an owner that answers, of 16384.', () =>
      this.#looked(({ slots }) => [{ labels: {}, value: slots }]),
    );
    registry?.read('reeve_redis_members', 'Nodes that answer, by role.', () =>
      this.#looked(({ primaries, replicas }) => [
        { labels: { role: 'primary' }, value: primaries },
        { labels: { role: 'replica' }, value: replicas },
      ]),
    );
    registry?.read('reeve_redis_operation_running', 'The operation that runs, if one does.', () =>
      this.#all(({ operation }) => (operation === undefined ? [] : [{ labels: { kind: operation }, value: 1 }])),
    );
  }

  saw(key: string, seen: SeenCluster): void {
    this.#seen.set(key, seen);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  /** With the term: whoever leads now tells them. */
  clear(): void {
    this.#seen.clear();
  }

  #looked(readings: (looked: LookedAt) => Iterable<Reading>): Generator<Reading> {
    return this.#all(({ looked }) => (looked ? readings(looked) : []));
  }

  *#all(readings: (seen: SeenCluster) => Iterable<Reading>): Generator<Reading> {
    for (const [key, seen] of this.#seen) {
      const [namespace = '', cluster = ''] = key.split('/');
      for (const { labels, value } of readings(seen)) yield { labels: { namespace, cluster, ...labels }, value };
    }
  }
}

function* findings({ findings: all }: LookedAt): Generator<Reading> {
  const counts = new Map<string, { readonly labels: Reading['labels']; value: number }>();
  for (const { code, severity } of all) {
    const known = counts.get(`${code} ${severity}`) ?? { labels: { code, severity }, value: 0 };
    counts.set(`${code} ${severity}`, known);
    known.value++;
  }
  yield* counts.values();
}
