import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readNonEmptyText } from '../object/read-field.js';
import { readTime } from '../object/time.js';

/** The state of an operation. */
export type OperationState =
  /** No agent has begun it. */
  | { readonly kind: 'new' }
  /** An agent recorded that it begins. */
  | { readonly kind: 'pending'; readonly runId: string | undefined; readonly sinceMs: number | undefined }
  | { readonly kind: 'ended' };

export interface ReadOperation {
  readonly object: KubernetesObject;
  readonly name: string;
  readonly uid: string;
  readonly action: HostAction;
  readonly hostStatusName: string;
  readonly createdAtMs: number | undefined;
  readonly state: OperationState;
}

const ACTIONS: ReadonlySet<string> = new Set<HostAction>([
  'ForceOn',
  'On',
  'ForceOff',
  'GracefulShutdown',
  'ForceRestart',
  'GracefulRestart',
  'PxeReboot',
]);

/** An operation as stored; undefined if its action is not known here, or it has no uid yet. Never throws. */
export function readOperation(object: KubernetesObject): ReadOperation | undefined {
  const { metadata, spec, status } = object;
  const action = readNonEmptyText(spec, 'action');
  if (action === undefined || !isAction(action) || metadata.uid === undefined) return undefined;
  return {
    object,
    name: metadata.name,
    uid: metadata.uid,
    action,
    hostStatusName: readNonEmptyText(spec, 'hostStatusName') ?? '',
    createdAtMs: readTime(metadata.creationTimestamp),
    state: stateOf(status),
  };
}

function isAction(text: string): text is HostAction {
  return ACTIONS.has(text);
}

/** An operation that is neither new nor pending never begins, whatever its state is called. */
function stateOf(status: unknown): OperationState {
  const text = readNonEmptyText(status, 'status');
  if (text === undefined) return { kind: 'new' };
  if (text !== 'pending') return { kind: 'ended' };
  return {
    kind: 'pending',
    runId: readNonEmptyText(status, 'startedBy'),
    sinceMs: readTime(readNonEmptyText(status, 'lastUpdateTime')),
  };
}
