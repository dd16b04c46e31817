import { BARE_METAL_API_VERSION } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { EventRegarding } from '@vmdhcp/kube-runtime';
import type { HostEvent } from '../../object/host-event.js';

/** What a host Event is about, as Events name it. @param createdUid - of an object that was created after the Event was planned. */
export function toHostRegarding({ regarding: { kind, name, uid } }: HostEvent, createdUid?: string): EventRegarding {
  const known = uid ?? (kind === 'HostStatus' ? createdUid : undefined);
  return { apiVersion: BARE_METAL_API_VERSION, kind, name, ...(known !== undefined && { uid: known }) };
}
