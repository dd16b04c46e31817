/** The way of a bare-metal host to its address and to its management controller, link by link, as a value. */
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type LinkState, stateOf } from '../chain/address-chain.js';
import { HOST_LINKS, type HostLinkName } from './host-links.js';
import { HOST_REASON_LINKS, type HostChainReason, type HostGravity } from './host-reason-links.js';

/** A reason that holds for a link. */
export interface HostFinding {
  readonly reason: HostChainReason;
  readonly state: HostGravity;
  /** Includes names and addresses if the controller or an agent wrote them; otherwise the meaning of the reason. */
  readonly message: string;
  /** What to do, from the table of reasons. */
  readonly remedy: string;
}

/** One link of the way of a host: its state, the object that it is about, and what was found there. */
export interface HostChainLink {
  readonly link: HostLinkName;
  readonly state: LinkState;
  /** `ClusterAgent rack-1`; absent if the link is not an object. */
  readonly object?: string;
  /** A short description of its state. */
  readonly facts: string;
  readonly findings: readonly HostFinding[];
}

/** The way of a bare-metal host to its address and its health: every link, and where it breaks. */
export interface HostChain {
  /** Undefined if none is known. */
  readonly address: string | undefined;
  readonly macAddress?: string;
  /** The name of the HostStatus; undefined if there is none. */
  readonly host: string | undefined;
  /** True if a client has a lease of the address, or a HostEndpoint names it. */
  readonly hasAddress: boolean;
  readonly state: LinkState;
  readonly links: readonly HostChainLink[];
  /** The first link that is broken or waits. */
  readonly brokenAt?: HostLinkName;
}

/** A link before its findings are added. */
export interface HostLinkFacts {
  readonly link: HostLinkName;
  readonly object?: string;
  readonly facts: string;
  readonly isUnknown?: boolean;
  /** True if the object does not exist. */
  readonly isAbsent?: boolean;
}

/** @param message - if empty, the meaning of the reason is used. */
export function hostFinding(reason: HostChainReason, message = '', state = HOST_REASON_LINKS[reason].gravity): HostFinding {
  const { meaning, remedy } = HOST_REASONS[reason];
  return { reason, state, message: message === '' ? meaning : message, remedy };
}

/** Links in order, each with its findings; each reason appears once. A finding without a link creates one. */
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
