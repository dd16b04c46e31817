import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type ObservedHost, readHost } from '../host/read-host.js';
import type { HostEvent } from '../object/host-event.js';
import { replacedMacAddress } from './host-difference.js';
import type { WantedHost } from './wanted-host.js';

type HostStatusEvent = Extract<HostEvent, { readonly regarding: { readonly kind: 'HostStatus' } }>;

/** The Event of a host that had no object. */
export function eventOfNew(wanted: WantedHost, uid?: string): HostEvent {
  return { regarding: { kind: 'HostStatus', name: wanted.name, uid }, event: firstEvent(wanted) };
}

/** The Events of a host, from its object before and the changed fields of its status. */
export function eventsOfChange(wanted: WantedHost, before: KubernetesObject, fields: readonly string[]): HostEvent[] {
  const { name, uid } = before.metadata;
  return eventTexts(wanted, readHost(before), fields).map((event) => ({ regarding: { kind: 'HostStatus', name, uid }, event }));
}

function firstEvent({ address, mode, macAddress, owner }: WantedHost): HostStatusEvent['event'] {
  return mode === 'dhcp'
    ? { type: 'Normal', reason: 'HostDiscovered', message: `${macAddress} has a lease of ${address}` }
    : { type: 'Normal', reason: 'HostEndpointAdded', message: `HostEndpoint ${owner?.name} names ${address}` };
}

/** Fields whose change another Event explains. */
const EXPLAINED: ReadonlySet<string> = new Set(['basic.mac', 'basic.macSince', 'basic.activeDhcpClient']);

function eventTexts(wanted: WantedHost, before: ObservedHost, fields: readonly string[]): HostStatusEvent['event'][] {
  if (before.clusterAgent === undefined) return [corrected('its status was not complete', fields)];
  if (before.mode !== wanted.mode) return [modeEvent(wanted)];
  const events = [macEvent(wanted, before), activeEvent(wanted, before)].filter((event) => event !== undefined);
  const isExplained = (field: string) => events.length > 0 && EXPLAINED.has(field);
  const others = fields.filter((field) => !isExplained(field));
  return others.length === 0 ? events : [...events, corrected('it differed from its sources', others)];
}

function modeEvent(wanted: WantedHost): HostStatusEvent['event'] {
  if (wanted.mode === 'dhcp') return firstEvent(wanted);
  const message = `HostEndpoint ${wanted.owner?.name} names ${wanted.address}, which was learned from a lease`;
  return { type: 'Normal', reason: 'HostEndpointAdopted', message };
}

function macEvent(wanted: WantedHost, before: ObservedHost): HostStatusEvent['event'] | undefined {
  const replaced = replacedMacAddress(wanted, before.macAddress);
  if (replaced === undefined) return undefined;
  const message = `${wanted.macAddress} has the lease of ${wanted.address}, and before it ${replaced} had it`;
  return { type: 'Warning', reason: 'MacAddressChanged', message };
}

function activeEvent({ isActive, address }: WantedHost, before: ObservedHost): HostStatusEvent['event'] | undefined {
  if (isActive === undefined || before.isActive === undefined || isActive === before.isActive) return undefined;
  return isActive
    ? { type: 'Normal', reason: 'LeaseReturned', message: `the client of ${address} has a lease again` }
    : { type: 'Normal', reason: 'LeaseEnded', message: `the lease of ${address} ended; the address stays bound to its client` };
}

function corrected(why: string, fields: readonly string[]): HostStatusEvent['event'] {
  const message = `${why}: ${fields.map((field) => `status.${field}`).join(', ')} written`;
  return { type: 'Normal', reason: 'HostStatusCorrected', message };
}
