import { formatIpv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { compareText } from '@vmdhcp/kube-runtime';
import type { ClusterAgentSettings } from '../host/cluster-agent-settings.js';
import { hostStatusName } from '../host/host-name.js';
import type { HostLease } from './inventory-plan.js';
import type { WantedHost } from './wanted-host.js';

export interface ReadLeases {
  /** Address to MAC address. */
  readonly clients: ReadonlyMap<string, MacAddress>;
  /** Addresses whose leases were not renewed yet. */
  readonly fresh: ReadonlySet<string>;
  readonly ignored: readonly HostLease[];
}

/** The leases in canonical spelling. If two have one address, which no server does, always the same one counts. */
export function readLeases(leases: readonly HostLease[]): ReadLeases {
  const clients = new Map<string, MacAddress>();
  const fresh = new Set<string>();
  const ignored: HostLease[] = [];
  for (const lease of leases) {
    const [address, macAddress] = [parseIpv4Address(lease.ipAddress), parseMacAddress(lease.macAddress)];
    if (address === undefined || macAddress === undefined) {
      ignored.push(lease);
      continue;
    }
    const text = formatIpv4Address(address);
    const other = clients.get(text);
    if (other === undefined || compareText(macAddress, other) < 0) clients.set(text, macAddress);
    if (lease.isNew) fresh.add(text);
  }
  return { clients, fresh, ignored };
}

/** The host of a lease. */
export function leasedHost({ name, connection }: ClusterAgentSettings, address: string, macAddress: MacAddress): WantedHost {
  return { ...learnedHost({ name, connection }, address), macAddress, isActive: true };
}

/** The host of a bound address whose client has no lease now. */
export function absentHost(agent: ClusterAgentSettings, address: string): WantedHost {
  return { ...learnedHost(agent, address), macAddress: undefined, isActive: false };
}

type OfAgent = Pick<ClusterAgentSettings, 'name' | 'connection'>;

function learnedHost({ name, connection }: OfAgent, address: string): Omit<WantedHost, 'macAddress' | 'isActive'> {
  return { name: hostStatusName(name, address), clusterAgent: name, address, mode: 'dhcp', connection, owner: undefined };
}
