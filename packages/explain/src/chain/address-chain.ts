/** The way from a virtual machine to its address, link by link, as a value. */
import { REASONS } from '@vmdhcp/ippool-api/agent';
import { CHAIN_LINKS, type ChainLinkName } from './chain-links.js';
import type { MissingRight } from './chain-observation.js';
import { type ChainReason, type Gravity, REASON_LINKS } from './reasons.js';

/** `absent`: it does not exist; another link may have the reason. `unknown`: it could not be read. */
export type LinkState = 'ok' | 'absent' | 'note' | 'unknown' | 'waiting' | 'broken';

/** A reason that holds for a link. */
export interface Finding {
  readonly reason: ChainReason;
  readonly state: Exclude<Gravity, 'ok'>;
  /** Includes names, addresses and limits if the controller or an agent wrote them; otherwise the meaning of the reason. */
  readonly message: string;
  /** What to do, from the table of reasons. */
  readonly remedy: string;
}

/** One link of the way to an address: its state, the object that it is about, and what was found there. */
export interface ChainLink {
  readonly link: ChainLinkName;
  readonly state: LinkState;
  /** `IPPool default/net-48`; absent if the link is not an object. */
  readonly object?: string;
  /** A short description of its state. */
  readonly facts: string;
  readonly findings: readonly Finding[];
}

/** The way of one interface of a virtual machine to its address. */
export interface InterfaceChain {
  readonly interface: string;
  readonly network: string;
  readonly macAddress?: string;
  /** The address that the pool records for the interface. */
  readonly address?: string;
  readonly state: LinkState;
  readonly links: readonly ChainLink[];
  /** The first link that is broken or waits; problems of later links may follow from it. */
  readonly brokenAt?: ChainLinkName;
}

/** An object whose Events may tell more. */
export interface EventSubject {
  readonly kind: 'VirtualMachine' | 'IPPool';
  readonly namespace: string;
  readonly name: string;
}

/** A client whose traffic the leader of the agents may know more about. */
export interface PacketSubject {
  /** The name of the interface. */
  readonly interface: string;
  readonly macAddress: string;
  /** `namespace/name` of the IPPool. */
  readonly pool: string;
  /** The pod of the leader. */
  readonly namespace: string;
  readonly pod: string;
  /** True if the guest operating system reports the address, so that nothing has to be looked for. */
  readonly isConfirmed: boolean;
}

/** The way from a virtual machine to its address: every link, and where it breaks. */
export interface AddressChain {
  readonly namespace: string;
  readonly name: string;
  /** The worst status of all links. */
  readonly state: LinkState;
  /** The virtual machine and the controller. */
  readonly links: readonly ChainLink[];
  readonly interfaces: readonly InterfaceChain[];
  readonly missingRights: readonly MissingRight[];
  readonly furtherEvents: readonly EventSubject[];
  /** Interfaces of running virtual machines without a broken link before the agents. */
  readonly furtherPackets: readonly PacketSubject[];
}

/** A link before its findings are added. */
export interface LinkFacts {
  readonly link: ChainLinkName;
  readonly object?: string;
  readonly facts: string;
  readonly isUnknown?: boolean;
  /** True if the object does not exist. */
  readonly isAbsent?: boolean;
}

const ORDER: readonly LinkState[] = ['absent', 'ok', 'note', 'unknown', 'waiting', 'broken'];

/** `ok` if nothing is worse: an absent object alone is not a problem. */
export function worstOf(states: readonly LinkState[]): LinkState {
  return states.reduce((worst, state) => (ORDER.indexOf(state) > ORDER.indexOf(worst) ? state : worst), 'ok');
}

/** @param message - if empty, the meaning of the reason is used. */
export function finding(reason: ChainReason, message = '', state = REASON_LINKS[reason].gravity): Finding {
  const { meaning, remedy } = REASONS[reason];
  return { reason, state: state === 'ok' ? 'note' : state, message: message === '' ? meaning : message, remedy };
}

/** Links in order, each with its findings; each reason appears once, with its gravest finding. A finding without a link creates one. */
export function toLinks(facts: readonly LinkFacts[], findings: readonly Finding[]): ChainLink[] {
  const gravestLast = findings.toReversed().toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  const gravest = new Map(gravestLast.map((one) => [one.reason, one]));
  const distinct = findings.filter((one) => gravest.get(one.reason) === one);
  const byLink = Map.groupBy(distinct, ({ reason }) => REASON_LINKS[reason].link);
  return CHAIN_LINKS.flatMap((link) => {
    const known = facts.find((one) => one.link === link);
    const found = byLink.get(link) ?? [];
    if (known === undefined && found.length === 0) return [];
    const { isUnknown = false, isAbsent = false, ...shown } = known ?? { link, facts: '' };
    return [{ ...shown, state: stateOf({ isUnknown, isAbsent }, found), findings: found }];
  });
}

/** The status of a link with these findings. */
export function stateOf(
  { isUnknown = false, isAbsent = false }: Pick<LinkFacts, 'isUnknown' | 'isAbsent'>,
  findings: readonly { readonly state: LinkState }[],
): LinkState {
  const itself = isUnknown ? 'unknown' : isAbsent ? 'absent' : 'ok';
  return findings.length === 0 ? itself : worstOf([itself, ...findings.map(({ state }) => state)]);
}

/** The first link that is broken or waits: it is the cause, and the problems after it may be its consequences. */
export function firstTrouble<Link extends { readonly state: LinkState }>(links: readonly Link[]): Link | undefined {
  return links.find(({ state }) => state === 'broken' || state === 'waiting');
}
