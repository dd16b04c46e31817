import { isDeepStrictEqual } from 'node:util';
import type { ReplicaSet, StringMap } from './workload-kinds.js';

/** The ReplicaSet with these annotations and no others; the same object if it has them already. */
export const withAnnotations = (set: ReplicaSet, annotations: StringMap): ReplicaSet =>
  isDeepStrictEqual(set.metadata.annotations ?? {}, annotations) ? set : { ...set, metadata: { ...set.metadata, annotations } };
