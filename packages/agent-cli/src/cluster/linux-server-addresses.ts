/** Server addresses as the kernel has them: each for a time, on its own interface, and without a route in the tables of the pod. */
import type { ServerAddressKernel } from '@vmdhcp/dhcp-agent';
import { announceAddress, closePath, dropAddresses, ifNameToIndex, leaseAddresses, openPath } from '@vmdhcp/linux-sockets';

export const linuxServerAddresses: ServerAddressKernel = {
  indexOf: ifNameToIndex,
  add: (addresses, seconds) => {
    const failures = leaseAddresses(addresses, seconds, { prefixRoute: false });
    return addresses.map((address, index) => failures[index] ?? failureOf(() => openPath(address)));
  },
  remove: (addresses) => {
    const isDone = dropAddresses(addresses);
    // Without its address a path leads nowhere: one that is left does no harm.
    for (const address of addresses) failureOf(() => closePath(address));
    return isDone;
  },
  announce: announceAddress,
};

function failureOf(change: () => void): Error | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
