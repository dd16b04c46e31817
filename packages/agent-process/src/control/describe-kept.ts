import type { LeaseEnd } from '@vmdhcp/dhcp-agent/packet-path';
import { RELEASE_LEASE_ANNOTATION } from '@vmdhcp/ippool-api/bare-metal/keys';

/**
 * Why a lease or a quarantine stays. `time-ahead`: the time in the annotation that requested the release is far ahead of the
 * agent's clock.
 */
export type KeptLease = Extract<LeaseEnd, { readonly kind: 'kept' | 'not-recorded' }> | { readonly kind: 'time-ahead' };

/** Why a lease or a quarantine that a person wanted to end stays, and what to do. */
export function describeKept({ ipAddress }: { readonly ipAddress: string }, end: KeptLease): string {
  if (end.kind === 'not-recorded') return `the end of the lease of ${ipAddress} could not be recorded: try again`;
  if (end.kind === 'time-ahead')
    return `the lease of ${ipAddress} stays: the time in the annotation ${RELEASE_LEASE_ANNOTATION} is more than a minute ahead of the clock of the agent; set the clocks of the agent's node and of the machine that wrote the annotation, then run vmdhcp-agent release ${ipAddress} again`;
  const stays =
    end.macAddress === undefined ? `${ipAddress} stays in quarantine` : `${end.macAddress} keeps its lease of ${ipAddress}`;
  switch (end.reason) {
    case 'in-use-by-client':
      return `${stays}: it answers ARP for the address; switch it off or unplug it, then release the lease again`;
    case 'in-use-by-another-host':
      return `${ipAddress} stays in quarantine: ${end.macAddress} answers ARP for it; give that host another address, then release this one again`;
    case 'declared':
      return `${stays}: the pools file assigns it; remove its VirtualMachineNetworkConfig or its reservation from the file`;
    case 'not-checked':
      return `${stays}: the agent could not probe for it; the log of the agent has the error: fix it, then release the lease again`;
    case 'being-checked':
      return `${stays}: addresses are being probed already; try again in ten seconds`;
  }
}
