/** Decides whether the leader has to add `selfIp` to the interface, and whether the interface has what the server needs. */
import type { ServerAddress, ServerAddressKernel } from '@vmdhcp/dhcp-agent';
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { addTemporaryAddresses, announceAddress, libc, removeAddresses } from '@vmdhcp/linux-sockets';
import type { HostPoolReading } from './host-pool.js';
import { isFromElsewhere, type ManagementLink, type ManagementLinkKernel } from './management-link.js';

/**
 * Addresses with their routes: the agent connects to the management controllers of hosts from `selfIp`. Only `selfIp` is ever added or removed.
 */
export const hostServerAddresses: ServerAddressKernel = {
  indexOf: libc.ifNameToIndex,
  add: (addresses, seconds) => addTemporaryAddresses(addresses, seconds),
  remove: removeAddresses,
  announce: announceAddress,
};

/**
 * The same kernel, but it leaves an address alone that another program or a person added to the interface meanwhile: it is
 * neither removed nor shortened, and counts as added.
 *
 * @param leaseSeconds - the duration of the Lease.
 */
export function leavingOthers(
  kernel: ServerAddressKernel,
  { list }: Pick<ManagementLinkKernel, 'list'>,
  leaseSeconds: number,
): ServerAddressKernel {
  const isOfOthers = ({ interfaceIndex, address }: ServerAddress) => {
    try {
      return list(interfaceIndex).some((one) => one.address === address && isFromElsewhere(one, leaseSeconds));
    } catch {
      // The interface disappeared, with its addresses.
      return false;
    }
  };
  return {
    indexOf: (interfaceName) => kernel.indexOf(interfaceName),
    add: (addresses, seconds) => {
      const own = addresses.filter((one) => !isOfOthers(one));
      const failures = own.length === 0 ? [] : kernel.add(own, seconds);
      return addresses.map((one) => failures[own.indexOf(one)]);
    },
    remove: (addresses) => kernel.remove(addresses.filter((one) => !isOfOthers(one))),
    announce: (interfaceName, address) => kernel.announce(interfaceName, address),
  };
}

/** What the leader adds: `selfIp`, unless the interface has it from another source, and then it is left unchanged. */
export function addedBy(settings: ServedSettings | undefined, link: ManagementLink | undefined): readonly ServerAddress[] {
  if (settings?.self === undefined || link?.isUp !== true) return [];
  const { self, interfaceName } = settings;
  return hasFromElsewhere(self.address, link) ? [] : [{ ...self, interfaceName, interfaceIndex: link.interfaceIndex }];
}

/** True if the interface has the address without the agent. */
export function hasFromElsewhere(server: Ipv4Address, { addresses }: ManagementLink): boolean {
  return addresses.some(({ address }) => address === server);
}

type ServedSettings = Pick<Extract<HostPoolReading, { readonly kind: 'served' }>, 'self' | 'interfaceName'>;
