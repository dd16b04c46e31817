/** Whether the leader has to add `selfIp` to the interface, and whether the interface has what the server needs. */
import type { ServerAddress, ServerAddressKernel } from '@vmdhcp/dhcp-agent';
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { addTemporaryAddresses, announceAddress, libc, removeAddresses } from '@vmdhcp/linux-sockets';
import type { HostLink } from './host-link.js';
import type { HostPoolReading } from './host-pool.js';

/**
 * Addresses with their routes: the agent connects to the management controllers of hosts from `selfIp`. Only `selfIp` is ever added or removed.
 */
export const hostServerAddresses: ServerAddressKernel = {
  indexOf: libc.ifNameToIndex,
  add: (addresses, seconds) => addTemporaryAddresses(addresses, seconds),
  remove: removeAddresses,
  announce: announceAddress,
};

/** What the leader adds: `selfIp`, unless the interface has it from elsewhere, which is then left as it is. */
export function addedBy(settings: ServedSettings | undefined, link: HostLink | undefined): readonly ServerAddress[] {
  if (settings?.self === undefined || link?.isUp !== true) return [];
  const { self, interfaceName } = settings;
  return hasFromElsewhere(self.address, link) ? [] : [{ ...self, interfaceName, interfaceIndex: link.interfaceIndex }];
}

/** True if the interface has the address without the agent. */
export function hasFromElsewhere(server: Ipv4Address, { addresses }: HostLink): boolean {
  return addresses.some(({ address }) => address === server);
}

type ServedSettings = Pick<Extract<HostPoolReading, { readonly kind: 'served' }>, 'self' | 'interfaceName'>;
