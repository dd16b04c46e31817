/** The network interface of the DHCP server in the kernel. */
import { type ListedAddress, libc, listAddresses, listLinks } from '@vmdhcp/linux-sockets';

export interface ManagementLink {
  readonly interfaceIndex: number;
  readonly isUp: boolean;
  /** IPv4 addresses that no agent added: without end, or with one that is later than the end of any leadership. */
  readonly addresses: readonly ListedAddress[];
}

/** How to read an interface; replaced in tests. */
export interface ManagementLinkKernel {
  /** 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  readonly isUp: (interfaceIndex: number) => boolean;
  readonly list: (interfaceIndex: number) => readonly ListedAddress[];
}

export const linuxHostLinks: ManagementLinkKernel = {
  indexOf: libc.ifNameToIndex,
  isUp: (interfaceIndex) => listLinks().some((link) => link.interfaceIndex === interfaceIndex && link.isUp),
  list: listAddresses,
};

/**
 * True for an address that no agent added. @param leaseSeconds - an address that lasts no longer was added by this agent, by
 * another container of its pod, or by one that was killed.
 */
export function isFromElsewhere({ validSeconds }: Pick<ListedAddress, 'validSeconds'>, leaseSeconds: number): boolean {
  return validSeconds > leaseSeconds + 1;
}

/**
 * Reads the interface; undefined if it does not exist, or disappears meanwhile.
 *
 * @param leaseSeconds - see `isFromElsewhere`.
 */
export function readManagementLink(
  kernel: ManagementLinkKernel,
  interfaceName: string,
  leaseSeconds: number,
): ManagementLink | undefined {
  try {
    const interfaceIndex = kernel.indexOf(interfaceName);
    if (interfaceIndex === 0) return undefined;
    const addresses = kernel.list(interfaceIndex).filter((one) => isFromElsewhere(one, leaseSeconds));
    return { interfaceIndex, isUp: kernel.isUp(interfaceIndex), addresses };
  } catch {
    return undefined;
  }
}
