/**
 * A controller runtime for Kubernetes: watch, cache, queue, leader election, Events and owned objects, on ports.
 *
 * @packageDocumentation
 */

export type { ApiResource } from './api/api-resource.js';
export { type FinalizerWrite, planFinalizer, planFinalizerRemoval } from './api/finalizer.js';
export { listAll } from './api/list-all.js';
export type { MergePatch, ObjectClient, SubresourceCall, WriteRefusal, WriteResult, WriteTarget } from './api/object-client.js';
export { projectedPort } from './api/projected-port.js';
export {
  ExpiredError,
  type ListPage,
  type ResourcePort,
  type WatchEnd,
  type WatchEvent,
  type WatchHandlers,
} from './api/resource-port.js';
export { DeletionMarks } from './apply/deletion-marks.js';
export { type ImmutableField, type ImmutableFields, immutableFieldsOf } from './apply/immutable-fields.js';
export { mergePatchTowards } from './apply/merge-patch-towards.js';
export {
  isOwnedByKind,
  type OwnedObjectWrite,
  orderedWrites,
  planSurplus,
  type RunningImage,
  runningImageOf,
} from './apply/owned-objects.js';
export {
  controllerOf,
  isOwnedBy,
  type OwnedObjectPlan,
  type Ownership,
  planOwnedObject,
  planOwnedObjects,
  toOwnerReference,
} from './apply/plan-owned-object.js';
export { isRolledOut, type Rollout, rolloutOf } from './apply/rollout.js';
export { writePlan } from './apply/write-plan.js';
export { ObjectCache, type ObjectCacheSettings } from './cache/object-cache.js';
export { ObjectIndex } from './cache/object-index.js';
export { Reflector, type ReflectorSettings } from './cache/reflector.js';
export {
  type CacheListener,
  type CacheState,
  type CacheSubscription,
  type MissingCache,
  SharedCaches,
  type SharedCachesSettings,
} from './cache/shared-caches.js';
export { type NamedResource, type WatchedObjects, type WatchObjectsPorts, watchObjects } from './cache/watch-objects.js';
export { type BackOffSettings, backOffMs } from './clock/back-off.js';
export type { Clock } from './clock/clock.js';
export { fencedClient, NotLeadingError } from './election/fenced-client.js';
export { ATTEMPT_SPREAD, LeaseElector } from './election/lease-elector.js';
export type { ElectionTimes, LeaseElectorSettings } from './election/lease-elector-settings.js';
export type { LeaseRecord, LeaseStore, StoredLease } from './election/lease-store.js';
export {
  type EventObject,
  EventRecorder,
  type EventRecorderSettings,
  type EventRegarding,
  type EventText,
  toRegarding,
} from './events/event-recorder.js';
export { type ApiObjectLike, keyOf } from './object/api-object.js';
export type { Condition } from './object/condition.js';
export { type ConditionState, readConditions, withConditions } from './object/conditions.js';
export { cutText, MOST_MESSAGE_OCTETS, octetsOf } from './object/cut-text.js';
export { describeCount, describeNames, describeProblems } from './object/describe-problems.js';
export { fnv1a64 } from './object/fnv1a64.js';
export { isOwnedByAnother } from './object/is-owned-by-another.js';
export {
  compareByAge,
  compareText,
  isBeingDeleted,
  type KubernetesObject,
  type OwnerReference,
} from './object/kubernetes-object.js';
export { objectNameWithin } from './object/object-name.js';
export { quote } from './object/quote.js';
export { isRecord, readField, readList, readText, readTexts } from './object/read-field.js';
export { isOlderVersion } from './object/resource-version.js';
export { formatTime, parseTime } from './object/time.js';
export type { ControllerPart } from './parts/controller-part.js';
export {
  type Controller,
  type ControllerSettings,
  type ControllerSource,
  createController,
  ownerKeys,
} from './parts/create-controller.js';
export { PartLifecycle, type PartLifecycleSettings } from './parts/part-lifecycle.js';
export { type PartsRun, type RunEnd, type RunPartsSettings, runParts } from './parts/run-parts.js';
export { KeyedQueue, type KeyedQueueSettings, type Reconciled, type ReconcileResult, type Urgency } from './queue/keyed-queue.js';
export { mostUrgent } from './queue/most-urgent.js';
export { type FinalizedReconciler, reconcileWithFinalizer } from './queue/reconcile-with-finalizer.js';
export { CONFLICT, toReconcileResult } from './queue/to-reconcile-result.js';
export { chooseHttpPorts, httpPortOf, type PortRange } from './workload/choose-http-ports.js';
export {
  type ContainerSettings,
  containerSpec,
  type DeploymentParts,
  deploymentOf,
  fieldVariable,
  type HttpProbe,
  IMAGE_USER,
  leaveLostNodes,
  type PodSettings,
  podSpec,
  spreadOverNodes,
  unprivileged,
} from './workload/pod-parts.js';
export { type RolloutRemedies, rolloutTrouble } from './workload/rollout-trouble.js';
