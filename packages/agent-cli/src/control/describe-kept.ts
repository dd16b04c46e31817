import type { LeaseEnd } from '@vmdhcp/dhcp-agent/packet-path';

/** Why a lease that a person wanted to end stays, and what to do. */
export function describeKept(
  { ipAddress }: { readonly ipAddress: string },
  end: Exclude<LeaseEnd, { readonly kind: 'ended' | 'no-lease' }>,
): string {
  if (end.kind === 'not-recorded') return `the end of the lease of ${ipAddress} could not be recorded: try again`;
  const stays = `${end.macAddress} keeps its lease of ${ipAddress}`;
  switch (end.reason) {
    case 'release-address-in-use-by-client':
      return `${stays}: it answers ARP for the address; switch it off or unplug it, then release the lease again`;
    case 'release-not-checked':
      return `${stays}: the network could not be asked whether it is there; the log has the error`;
    case 'release-being-checked':
    case 'release-limit':
      return `${stays}: leases are being checked already; try again in ten seconds`;
  }
}
