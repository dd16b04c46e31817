/** The way of a bare-metal host to its address and to the management controller that answers there, link by link, as a value. */
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type LinkState, stateOf } from '../chain/address-chain.js';
import { HOST_LINKS, type HostLinkName } from './host-links.js';
import { HOST_REASON_LINKS, type HostChainReason, type HostGravity } from './host-reason-links.js';

/** A reason that holds for a link. */
export interface HostFinding {
  readonly reason: HostChainReason;
  readonly state: HostGravity;
  /** With names and addresses where the controller or an agent wrote them; else the meaning of the reason. */
  readonly message: string;
  /** What to do, by the table of reasons. */
  readonly remedy: string;
}

export interface HostChainLink {
  readonly link: HostLinkName;
  readonly state: LinkState;
  /** `ClusterAgent rack-1`; absent: the link is no object. */
  readonly object?: string;
  /** What is known of it, in a few words. */
  readonly facts: string;
  readonly findings: readonly HostFinding[];
}

export interface HostChain {
  /** Undefined: none is known. */
  readonly address: string | undefined;
  readonly macAddress?: string;
  /** Of the HostStatus; undefined: there is none. */
  readonly host: string | undefined;
  /** True: a client has a lease of the address, or a HostEndpoint names it. */
  readonly hasAddress: boolean;
  readonly state: LinkState;
  readonly links: readonly HostChainLink[];
  /** The first link that is broken or waits. */
  readonly brokenAt?: HostLinkName;
}

/** A link before what was found is added to it. */
export interface HostLinkFacts {
  readonly link: HostLinkName;
  readonly object?: string;
  readonly facts: string;
  readonly isUnknown?: boolean;
  /** True: there is none. */
  readonly isAbsent?: boolean;
}

/** @param message - empty: the meaning of the reason. */
export function hostFinding(reason: HostChainReason, message = '', state = HOST_REASON_LINKS[reason].gravity): HostFinding {
  const { meaning, remedy } = HOST_REASONS[reason];
  return { reason, state, message: message === '' ? meaning : message, remedy };
}

/** Links in their order, each with its findings; every reason once. A finding whose link is not there makes one. */
export function toHostLinks(facts: readonly HostLinkFacts[], findings: readonly HostFinding[]): HostChainLink[] {
  const distinct = [...new Map(findings.toReversed().map((one) => [one.reason, one])).values()].toReversed();
  const byLink = Map.groupBy(distinct, ({ reason }) => HOST_REASON_LINKS[reason].link);
  return HOST_LINKS.flatMap((link) => {
    const known = facts.find((one) => one.link === link);
    const found = byLink.get(link) ?? [];
    if (known === undefined && found.length === 0) return [];
    const { isUnknown = false, isAbsent = false, ...shown } = known ?? { link, facts: '' };
    return [{ ...shown, state: stateOf({ isUnknown, isAbsent }, found), findings: found }];
  });
}
