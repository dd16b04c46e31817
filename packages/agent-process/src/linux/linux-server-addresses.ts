/** Server addresses in the kernel: each for a limited time, on its own interface, and without a route in the tables of the pod. */
import type { ServerAddressKernel } from '@vmdhcp/dhcp-agent';
import { addTemporaryAddresses, announceAddress, closePath, libc, openPath, removeAddresses } from '@vmdhcp/linux-sockets';

export const linuxServerAddresses: ServerAddressKernel = {
  indexOf: libc.ifNameToIndex,
  add: (addresses, seconds) => {
    const failures = addTemporaryAddresses(addresses, seconds, { prefixRoute: false });
    return addresses.map((address, index) => failures[index] ?? failureOf(() => openPath(address)));
  },
  remove: (addresses) => {
    const isDone = removeAddresses(addresses);
    // A path without its address leads nowhere, so a leftover path does no harm.
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
