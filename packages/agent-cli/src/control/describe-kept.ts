import type { LeaseEnd } from '@vmdhcp/dhcp-agent/packet-path';
import { RELEASE_LEASE_ANNOTATION } from '@vmdhcp/ippool-api/bare-metal/keys';

/** Why a lease stays. `time-ahead`: the annotation that was to end it has a time that the clock of the agent has not reached by far. */
export type KeptLease = Exclude<LeaseEnd, { readonly kind: 'ended' | 'no-lease' }> | { readonly kind: 'time-ahead' };

/** Why a lease that a person wanted to end stays, and what to do. */
export function describeKept({ ipAddress }: { readonly ipAddress: string }, end: KeptLease): string {
  if (end.kind === 'not-recorded') return `the end of the lease of ${ipAddress} could not be recorded: try again`;
  if (end.kind === 'time-ahead')
    return `the lease of ${ipAddress} stays: the time in the annotation ${RELEASE_LEASE_ANNOTATION} is more than a minute ahead of the clock of the agent; set the clocks of the agent's node and of the machine that wrote the annotation, then run vmdhcp-agent release ${ipAddress} again`;
  const stays = `${end.macAddress} keeps its lease of ${ipAddress}`;
  switch (end.reason) {
    case 'release-address-in-use-by-client':
      return `${stays}: it answers ARP for the address; switch it off or unplug it, then release the lease again`;
    case 'release-not-checked':
      return `${stays}: the network could not be asked whether it is there; the log of the agent has the error: remedy it, then release the lease again`;
    case 'release-being-checked':
    case 'release-limit':
      return `${stays}: leases are being checked already; try again in ten seconds`;
  }
}
