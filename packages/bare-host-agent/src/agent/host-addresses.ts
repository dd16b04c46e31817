/** The addresses of this host's interfaces in the kernel. */
import {
  addNewAddress,
  type LinkAddress,
  type ListedAddress,
  libc,
  listAddresses,
  prolongAddress,
  removeAddresses,
} from '@vmdhcp/linux-sockets';

export interface HostAddresses {
  /** 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** The IPv4 addresses of an interface, up or down. @throws Error */
  readonly list: (interfaceIndex: number) => readonly ListedAddress[];
  /**
   * Adds an address for this many seconds and brings the interface up. Returns false if it exists already: then it is not
   * changed. @throws Error
   */
  readonly add: (address: LinkAddress, seconds: number) => boolean;
  /** Keeps the address for this many seconds from now. @throws Error */
  readonly prolong: (address: LinkAddress, seconds: number) => void;
  /** Returns false if it may still exist. */
  readonly remove: (address: LinkAddress) => boolean;
  /** Milliseconds of a monotonic clock that continues while the process is stopped. */
  readonly nowMs: () => number;
}

export const linuxHostAddresses: HostAddresses = {
  indexOf: libc.ifNameToIndex,
  list: listAddresses,
  add: addNewAddress,
  prolong: prolongAddress,
  remove: (address) => removeAddresses([address]),
  nowMs: () => performance.now(),
};
