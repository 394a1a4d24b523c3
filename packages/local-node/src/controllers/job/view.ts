/** What the plan of a job looks at, and what it saw. */
import type { Stored } from '@reeve/kube';
import type { JobSpec, JobStatus } from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';

export interface JobView {
  readonly spec: JobSpec;
  readonly status: JobStatus | undefined;
  readonly isBeingDeleted: boolean;
  readonly pods: readonly Stored<Pod>[];
}

/** Pods that ended and whose end was in no list before. */
export interface Ends {
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
  /** Failures that a rule says not to count. */
  readonly ignored: ReadonlySet<string>;
  /** Of indexed jobs: what succeeded is in the list of indexes, which counts by itself. */
  readonly indexed: ReadonlySet<string>;
  readonly indexes: {
    readonly completedIndexes?: string;
    readonly succeeded?: number;
    readonly failedIndexes?: string;
  };
  /** Failed pods that wait for their successors, by index: they are in the lists above, and not to be counted yet. */
  readonly held: ReadonlyMap<number, Stored<Pod>>;
  /** A rule says that the job fails. */
  readonly fatal: string | undefined;
}

export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
}
