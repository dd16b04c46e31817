import { keyOf } from '../object/api-object.js';
import type { MemoryResource } from './memory-resource.js';

export interface GarbageCollection {
  /** Kinds that own others. Objects of several kinds in memory may have the same uid: name no kind that owns nothing. */
  readonly owners: readonly MemoryResource[];
  /** Kinds that are owned. */
  readonly owned: readonly MemoryResource[];
}

/** Deletes objects whose owners are all gone, like the garbage collector of a cluster. */
export async function collectGarbage({ owners, owned }: GarbageCollection): Promise<void> {
  const uids = new Set(owners.flatMap(({ objects }) => [...objects.values()].map(({ metadata }) => metadata.uid)));
  for (const resource of owned) {
    for (const object of [...resource.objects.values()]) {
      const { ownerReferences = [], uid = '' } = object.metadata;
      if (ownerReferences.length > 0 && !ownerReferences.some((owner) => uids.has(owner.uid))) {
        await resource.delete(keyOf(object), uid);
      }
    }
  }
}
