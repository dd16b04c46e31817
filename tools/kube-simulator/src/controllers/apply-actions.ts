import type { ApiClient } from '../api/api-client.js';
import { ApiError } from '../api-error.js';
import type { ApiObject, JsonObject, ObjectMeta } from '../api-object.js';
import { isMissing } from './api-outcome.js';
import type { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import type { KubeObject, Pod, ReplicaSet } from './workload-kinds.js';

/** One step that the plan of a workload asks for. */
export type WorkloadAction =
  | { readonly kind: 'create-pod'; readonly pod: Pod }
  | { readonly kind: 'delete-pod'; readonly name: string }
  | { readonly kind: 'create-revision'; readonly revision: JsonObject }
  | ReplicaSetAction
  /** Status and annotations of the workload. */
  | { readonly kind: 'report'; readonly workload: KubeObject };

export type ReplicaSetAction =
  /** `event`: the message of an Event `ScalingReplicaSet`. */
  | { readonly kind: 'create-replica-set'; readonly replicaSet: ReplicaSet; readonly event: string }
  /** Scaled (then with an event) or annotated. */
  | { readonly kind: 'update-replica-set'; readonly replicaSet: ReplicaSet; readonly event?: string }
  | { readonly kind: 'delete-replica-set'; readonly name: string };

/** A Pod was refused; `cause` is the API's failure, the message its text. */
export class RefusedCreate extends Error {
  readonly code = 'refused-create';
}

export interface ActionTarget {
  readonly api: ApiClient;
  readonly events: EventRecorder;
  readonly kind: { readonly group: string; readonly resource: string };
  readonly workload: KubeObject;
}

const podKind = { resource: 'pods' };
const replicaSetKind = { group: 'apps', resource: 'replicasets' };
const revisionKind = { group: 'apps', resource: 'controllerrevisions' };

/** Carries out the actions in order. @throws RefusedCreate at the first Pod that is refused: no action after it is carried out. */
export async function applyActions(actions: readonly WorkloadAction[], target: ActionTarget): Promise<void> {
  let written: ObjectMeta = target.workload.metadata;
  for (const action of actions) {
    if (action.kind === 'report') written = await report(target, action.workload, written);
    else await change(target, action);
  }
}

/** Reports of one plan follow each other: each goes on from what the server made of the one before. */
async function report(
  { api, kind }: ActionTarget,
  workload: KubeObject,
  { resourceVersion, managedFields }: ObjectMeta,
): Promise<ObjectMeta> {
  const numbered = resourceVersion === undefined ? {} : { resourceVersion };
  const metadata = { ...workload.metadata, ...numbered, ...(managedFields === undefined ? {} : { managedFields }) };
  const path = { ...kind, ...parseKey(keyOf(workload)), subresource: 'status' };
  return (await api.update(path, { ...workload, metadata })).metadata;
}

function change(target: ActionTarget, action: Exclude<WorkloadAction, { kind: 'report' }>): Promise<unknown> {
  const namespace = target.workload.metadata.namespace ?? '';
  switch (action.kind) {
    case 'create-pod':
      return createPod(target, action.pod);
    case 'delete-pod':
      return deletePod(target, action.name);
    case 'create-revision':
      return target.api.create({ ...revisionKind, namespace }, action.revision);
    case 'create-replica-set':
    case 'update-replica-set':
    case 'delete-replica-set':
      return changeReplicaSet(target, action);
  }
}

async function createPod({ api, events, workload: object }: ActionTarget, pod: Pod): Promise<void> {
  let created: ApiObject;
  try {
    created = await api.create({ ...podKind, namespace: object.metadata.namespace ?? '' }, pod);
  } catch (error) {
    const why = error instanceof ApiError ? error.failure.message : String(error);
    await events.record({ object, type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${why}` });
    throw new RefusedCreate(why, { cause: error });
  }
  await events.record({
    object,
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Created pod: ${created.metadata.name}`,
  });
}

async function deletePod({ api, events, workload: object }: ActionTarget, name: string): Promise<void> {
  await deleteUnlessGone(api, { ...podKind, namespace: object.metadata.namespace ?? '', name });
  await events.record({ object, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
}

async function changeReplicaSet({ api, events, workload: object }: ActionTarget, action: ReplicaSetAction): Promise<void> {
  const kind = { ...replicaSetKind, namespace: object.metadata.namespace ?? '' };
  if (action.kind === 'delete-replica-set') return deleteUnlessGone(api, { ...kind, name: action.name });
  const { replicaSet, event } = action;
  if (action.kind === 'create-replica-set') await api.create(kind, replicaSet);
  else await api.update({ ...kind, name: replicaSet.metadata.name ?? '' }, replicaSet);
  if (event !== undefined) await events.record({ object, type: 'Normal', reason: 'ScalingReplicaSet', message: event });
}

async function deleteUnlessGone(api: ApiClient, path: Parameters<ApiClient['delete']>[0]): Promise<void> {
  try {
    await api.delete(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
