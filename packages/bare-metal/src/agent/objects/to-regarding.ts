import { BARE_METAL_API_VERSION } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { EventRegarding } from '@vmdhcp/kube-runtime';
import type { HostEvent } from '../../object/host-event.js';

/**
 * Converts the subject of a host Event to the reference that Events use. @param createdUid - the uid of an object that was
 * created after the Event was planned.
 */
export function toRegarding({ regarding: { kind, name, uid } }: HostEvent, createdUid?: string): EventRegarding {
  const known = uid ?? (kind === 'HostStatus' ? createdUid : undefined);
  return { apiVersion: BARE_METAL_API_VERSION, kind, name, ...(known !== undefined && { uid: known }) };
}
