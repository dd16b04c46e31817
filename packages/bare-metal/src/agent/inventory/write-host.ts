import type { KubernetesObject, WriteResult } from '@vmdhcp/kube-runtime';
import type { HostStatusAction } from '../../inventory/inventory-plan.js';
import type { HostWriteKind } from '../host-agent-event.js';
import { attemptWrite, type WriteOutcome } from '../objects/attempt-write.js';
import type { HostObjects } from '../objects/host-objects.js';
import { toHostRegarding } from '../objects/to-host-regarding.js';
import type { HostAgentPorts } from '../ports.js';

export interface HostWriting {
  readonly ports: HostAgentPorts;
  readonly objects: HostObjects;
  /** True if no write may begin any longer. */
  readonly isStopped: () => boolean;
}

export type HostWriteOutcome = WriteOutcome<KubernetesObject | undefined>;

const STOPPED = { ok: false, reason: 'stopped', message: 'this process is no longer leader' } as const;

/** Carries out one action of a plan; records the Events of each write afterwards. Never rejects. */
export async function writeHost(writing: HostWriting, action: HostStatusAction): Promise<HostWriteOutcome> {
  switch (action.kind) {
    case 'create':
      return createHost(writing, action);
    case 'patch':
    case 'patch-status':
      return patchHost(writing, action);
    case 'delete':
      return deleteHost(writing, action);
  }
}

/** Two writes. If the second one fails, the next plan completes the object. */
async function createHost(
  writing: HostWriting,
  action: Extract<HostStatusAction, { kind: 'create' }>,
): Promise<HostWriteOutcome> {
  const { ports, objects } = writing;
  const { name, status } = action;
  const created = await write(writing, { kind: 'create', name }, () => ports.hostStatuses.create(action.object));
  if (!created.ok) return created;
  objects.created(created.object);
  recordEvents(writing, action, created.object.metadata.uid);
  // Only of this object: a later one with the same name is not ours to complete.
  const target = { key: name, resourceVersion: created.object.metadata.resourceVersion };
  const completed = await write(writing, { kind: 'patch-status', name }, () =>
    ports.hostStatuses.patchStatus(target, { status }),
  );
  if (completed.ok) objects.wrote('hoststatuses', completed.object);
  return completed;
}

async function patchHost(
  writing: HostWriting,
  action: Extract<HostStatusAction, { kind: 'patch' | 'patch-status' }>,
): Promise<HostWriteOutcome> {
  const { ports, objects } = writing;
  const { name, patch } = action;
  const outcome = await write(writing, action, () =>
    action.kind === 'patch'
      ? ports.hostStatuses.patch({ key: name, resourceVersion: action.resourceVersion }, patch)
      : ports.hostStatuses.patchStatus({ key: name }, patch),
  );
  if (!outcome.ok) return outcome;
  objects.wrote('hoststatuses', outcome.object);
  recordEvents(writing, action);
  return outcome;
}

async function deleteHost(
  writing: HostWriting,
  action: Extract<HostStatusAction, { kind: 'delete' }>,
): Promise<HostWriteOutcome> {
  const { ports, objects } = writing;
  const { name, uid = '', resourceVersion } = action;
  const outcome = await write(writing, action, () => ports.hostStatuses.delete(name, uid, resourceVersion));
  if (!outcome.ok) return outcome;
  objects.deleted(name);
  recordEvents(writing, action);
  return outcome;
}

interface What {
  readonly kind: HostWriteKind;
  readonly name: string;
}

async function write<Kind>(
  { ports, isStopped }: HostWriting,
  { kind, name }: What,
  call: () => Promise<WriteResult<Kind>>,
): Promise<WriteOutcome<Kind>> {
  if (isStopped()) return STOPPED;
  const outcome = await attemptWrite(call);
  if (outcome.ok) ports.observer.observe({ kind: 'written', write: kind, name });
  return outcome;
}

function recordEvents({ ports }: HostWriting, { events }: HostStatusAction, createdUid?: string): void {
  for (const event of events) {
    ports.events.record(toHostRegarding(event, createdUid), event.event);
    ports.observer.observe({ kind: 'event', event });
  }
}
