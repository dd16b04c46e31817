import { type Condition, toTime } from './workload-kinds.js';

/** The remaining objects of one kind in a namespace that is being deleted. */
export interface Remains {
  readonly group: string;
  readonly resource: string;
  /** The finalizers of each object. */
  readonly finalizers: readonly (readonly string[])[];
}

export interface NamespaceContent {
  readonly remains: readonly Remains[];
  /** Why objects could not be deleted. */
  readonly failures: readonly string[];
  readonly now: Date;
}

/** The conditions that report what a namespace that is being deleted still waits for. */
export const namespaceConditions = (
  before: readonly Condition[],
  { remains, failures, now }: NamespaceContent,
): readonly Condition[] => {
  const counts = remains.map(
    ({ group, resource, finalizers }) => `${resource}.${group} has ${finalizers.length} resource instances`,
  );
  const holders = Map.groupBy(remains.flatMap(({ finalizers }) => finalizers).flat(), (finalizer) => finalizer);
  const remaining = [...holders].map(([finalizer, all]) => `${finalizer} in ${all.length} resource instances`);
  const statements: readonly [string, string, string, string][] = [
    ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    failures.length > 0
      ? [
          'NamespaceDeletionContentFailure',
          'True',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
        ]
      : [
          'NamespaceDeletionContentFailure',
          'False',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ],
    counts.length > 0
      ? [
          'NamespaceContentRemaining',
          'True',
          'SomeResourcesRemain',
          `Some resources are remaining: ${counts.toSorted().join(', ')}`,
        ]
      : ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed'],
    remaining.length > 0
      ? [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${remaining.toSorted().join(', ')}`,
        ]
      : ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
  ];
  return statements.map(([type, status, reason, message]) => {
    const current = before.find((condition) => condition.type === type && condition.status === status);
    return { type, status, lastTransitionTime: current?.lastTransitionTime ?? toTime(now), reason, message };
  });
};
