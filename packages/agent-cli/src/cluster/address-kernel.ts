/** Server addresses as the kernel has them: each for a time, on its own interface, and without a route in the tables of the pod. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import {
  addTemporaryAddresses,
  announceAddress,
  closePath,
  type InterfaceAddress,
  libc,
  openPath,
  removeAddresses,
} from '@vmdhcp/linux-sockets';

/** What a leader asks of the kernel; in tests, of something that stands for it. */
export interface AddressKernel {
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Gives these addresses for so many seconds from now, or prolongs them. Returns what failed, one entry for each address. */
  readonly give: (addresses: readonly InterfaceAddress[], seconds: number) => readonly (Error | undefined)[];
  /** False if they may still be there. */
  readonly take: (addresses: readonly InterfaceAddress[]) => boolean;
  /** @throws SocketError */
  readonly announce: (interfaceName: string, address: Ipv4Address) => void;
  /** Milliseconds of a clock that is not set while it runs. */
  readonly nowMs: () => number;
}

export const linuxAddressKernel: AddressKernel = {
  indexOf: libc.ifNameToIndex,
  give: (addresses, seconds) => {
    const failures = addTemporaryAddresses(addresses, seconds, { prefixRoute: false });
    return addresses.map((address, index) => failures[index] ?? failureOf(() => openPath(address)));
  },
  take: (addresses) => {
    const isDone = removeAddresses(addresses);
    // Without its address a path leads nowhere: one that is left does no harm.
    for (const address of addresses) failureOf(() => closePath(address));
    return isDone;
  },
  announce: announceAddress,
  nowMs: () => performance.now(),
};

function failureOf(change: () => void): Error | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
