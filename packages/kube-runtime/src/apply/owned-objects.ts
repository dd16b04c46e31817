/** What planners of objects that custom resources own have in common. */
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList, readText } from '../object/read-field.js';
import { controllerOf, type OwnedObjectPlan, planOwnedObject } from './plan-owned-object.js';

/** A plan that changes something. */
export type OwnedObjectWrite = Extract<OwnedObjectPlan, { readonly kind: 'create' | 'patch' | 'delete' }>;

const ORDER: readonly OwnedObjectWrite['kind'][] = ['delete', 'patch', 'create'];

/** The writes in the order in which they have to be applied: deletions free names, addresses and ports for what comes after. */
export function orderedWrites(plans: readonly OwnedObjectPlan[]): readonly OwnedObjectWrite[] {
  return ORDER.flatMap((kind) => plans.filter((plan): plan is OwnedObjectWrite => plan.kind === kind));
}

/** True if the controller of the object is of this kind, whichever object that is, or was. */
export function isOwnedByKind(
  object: KubernetesObject,
  { group, kind }: { readonly group: string; readonly kind: string },
): boolean {
  const owner = controllerOf(object);
  return owner?.kind === kind && owner.apiVersion.startsWith(`${group}/`);
}

/** Deletes objects that are no longer wanted, without waiting for the garbage collector. */
export function planSurplus(objects: readonly KubernetesObject[]): readonly OwnedObjectPlan[] {
  return objects.map((object) => planOwnedObject(undefined, object, { isOwn: () => true }));
}

/** The image that the first container of a workload runs, with the user that it needs. */
export interface RunningImage {
  readonly image: string;
  readonly securityContext: unknown;
}

/** @returns undefined if there is no workload, or its container has no image. */
export function runningImageOf(workload: KubernetesObject | undefined): RunningImage | undefined {
  const [container] = readList(workload?.spec, 'template', 'spec', 'containers');
  const image = readText(container, 'image');
  return image === undefined ? undefined : { image, securityContext: readField(container, 'securityContext') };
}
