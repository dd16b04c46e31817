import { keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** A deletion that the server has accepted. */
interface Mark {
  readonly uid: string;
  readonly deletionTimestamp: string;
}

/** Objects that were deleted a moment ago, and whose deletion the watch has not shown yet: they must not be deleted again. */
export class DeletionMarks {
  readonly #marks = new Map<string, Mark>();

  /** @param deletionTimestamp - RFC 3339. */
  add(kind: string, object: KubernetesObject, deletionTimestamp: string): void {
    const { uid } = object.metadata;
    if (uid !== undefined) this.#marks.set(`${kind} ${keyOf(object)}`, { uid, deletionTimestamp });
  }

  /** The object as last seen, marked as being deleted if the watch has not shown that yet. */
  marked(kind: string, object: KubernetesObject): KubernetesObject {
    const mark = this.#marks.get(`${kind} ${keyOf(object)}`);
    const { metadata } = object;
    if (mark?.uid !== metadata.uid || mark === undefined || metadata.deletionTimestamp !== undefined) return object;
    return { ...object, metadata: { ...metadata, deletionTimestamp: mark.deletionTimestamp } };
  }

  /** Notes the object as the watch shows it; undefined if it is gone. */
  seen(kind: string, key: string, object: KubernetesObject | undefined): void {
    const mark = this.#marks.get(`${kind} ${key}`);
    const isOver = object?.metadata.uid !== mark?.uid || object?.metadata.deletionTimestamp !== undefined;
    if (mark !== undefined && isOver) this.#marks.delete(`${kind} ${key}`);
  }
}
