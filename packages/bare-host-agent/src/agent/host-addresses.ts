/** The addresses of this host's interfaces, as the kernel has them. */
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
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** The IPv4 addresses of an interface, up or down. @throws Error */
  readonly list: (interfaceIndex: number) => readonly ListedAddress[];
  /** Adds an address for so many seconds and brings the interface up. False if it is there already: it is not changed. @throws Error */
  readonly add: (address: LinkAddress, seconds: number) => boolean;
  /** The address stays for so many seconds from now. @throws Error */
  readonly prolong: (address: LinkAddress, seconds: number) => void;
  /** False if it may still be there. */
  readonly remove: (address: LinkAddress) => boolean;
  /** Milliseconds of a clock that is not set while it runs, and goes on while the process is stopped. */
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
