/** What is left in a namespace that is being deleted, and how its conditions say so. Pure. */
import { type Condition, type NewCondition, setConditions } from '@reeve/runtime';

export interface Remaining {
  /** `pods`, `things.test.dev` and how many. */
  readonly resources: ReadonlyMap<string, number>;
  /** Finalizers that hold them, and how many. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** What could not be deleted, in words. */
  readonly failures: readonly string[];
  /** Kinds that could not even be asked for. */
  readonly undiscovered: string | undefined;
}

export function isEmpty({ resources, failures, undiscovered }: Remaining): boolean {
  return resources.size === 0 && failures.length === 0 && undiscovered === undefined;
}

export function contentConditions(
  before: readonly Condition[] | undefined,
  { resources, finalizers, failures, undiscovered }: Remaining,
  now: number,
): readonly Condition[] {
  const said = (all: ReadonlyMap<string, number>, word: string) =>
    [...all]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name}${word}${count} resource instances`);
  const next: readonly NewCondition[] = [
    undiscovered === undefined
      ? fine('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered')
      : wrong(
          'NamespaceDeletionDiscoveryFailure',
          'DiscoveryFailed',
          `Discovery failed for some groups, 1 failing: ${undiscovered}`,
        ),
    fine(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    failures.length === 0
      ? fine(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : wrong(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
        ),
    resources.size === 0
      ? fine('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : wrong(
          'NamespaceContentRemaining',
          'SomeResourcesRemain',
          `Some resources are remaining: ${said(resources, ' has ').join(', ')}`,
        ),
    finalizers.size === 0
      ? fine('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : wrong(
          'NamespaceFinalizersRemaining',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${said(finalizers, ' in ').join(', ')}`,
        ),
  ];
  return setConditions(before, next, now);
}

/** These conditions are complaints: False is good. */
function fine(type: string, reason: string, message: string): NewCondition {
  return { type, status: 'False', reason, message };
}

function wrong(type: string, reason: string, message: string): NewCondition {
  return { type, status: 'True', reason, message };
}
