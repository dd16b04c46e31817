/**
 * Chooses the interfaces on which packets from outside are received. It skips ports of a bridge or bond: what they receive
 * arrives at the bridge or bond. It also skips interfaces of pods, containers and virtual machines, because their packets come
 * from inside.
 */
import type { ListenableLink } from './listenable-link.js';

/** Kinds without a network outside the host, or with only another tunnel. */
const INSIDE_KINDS: ReadonlySet<string> = new Set([
  ...['dummy', 'ifb', 'tun', 'macvtap', 'ipvlan', 'vrf', 'nlmon', 'netdevsim'],
  ...['vxlan', 'geneve', 'gretap', 'ip6gretap', 'erspan', 'bareudp'],
]);

/** Names that container networks and hypervisors give to interfaces inside. */
const INSIDE_NAMES = [
  ...['docker*', 'podman*', 'cni*', 'flannel*', 'cali*', 'cilium_*', 'lxc*', 'lxd*', 'virbr*', 'vnet*', 'tap*', 'veth*'],
  ...['kube-*', 'nodelocaldns*', 'br-int', 'ovs-system', 'ovn-k8s-*', 'genev_sys*'],
].map(toExpression);
/** Docker names the bridges of its networks like this. */
const DOCKER_BRIDGE = /^br-[0-9a-f]{12}$/;
/** The end of a veth pair that a machine in namespaces has as its network card. */
const CARD_NAME = /^(eth|en)/;

/** The interfaces to listen on, and the patterns that match none. */
export interface ChosenInterfaces {
  readonly links: readonly ListenableLink[];
  /** Names without wildcard that match no usable interface: it is missing, down, or not Ethernet. Sorted. */
  readonly missing: readonly string[];
}

/**
 * The interfaces that the patterns choose; without a choosing pattern, every interface with a network outside.
 * A pattern may have `*` and `?`; those choose among interfaces with a network outside. A whole name chooses that interface,
 * whatever it is. A pattern that begins with `!` excludes what it matches, whatever else chooses it.
 */
export function chooseInterfaces(links: readonly ListenableLink[], patterns: readonly string[]): ChosenInterfaces {
  const leftOut = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => toExpression(pattern.slice(1)));
  const choosing = patterns.filter((pattern) => !pattern.startsWith('!'));
  const names = new Set(choosing.filter((pattern) => !/[*?]/.test(pattern)));
  const expressions = (choosing.length === 0 ? ['*'] : choosing).map(toExpression);
  const usable = links.filter(({ isUp, isEthernet }) => isUp && isEthernet);
  const chosen = usable.filter(
    (link) =>
      (names.has(link.interfaceName) || (isOutside(link, links) && matches(link, expressions))) && !matches(link, leftOut),
  );
  const found = new Set(usable.map(({ interfaceName }) => interfaceName));
  return { links: chosen, missing: [...names].filter((name) => !found.has(name)).toSorted() };
}

function isOutside(link: ListenableLink, links: readonly ListenableLink[]): boolean {
  if (link.kind !== undefined && INSIDE_KINDS.has(link.kind)) return false;
  if (link.kind === 'veth' && !CARD_NAME.test(link.interfaceName)) return false;
  if (matches(link, INSIDE_NAMES) || DOCKER_BRIDGE.test(link.interfaceName)) return false;
  if (link.masterIndex === undefined) return true;
  // An interface of a VRF is not a port: packets arrive at the interface itself.
  return links.find(({ interfaceIndex }) => interfaceIndex === link.masterIndex)?.kind === 'vrf';
}

function matches({ interfaceName }: ListenableLink, expressions: readonly RegExp[]): boolean {
  return expressions.some((expression) => expression.test(interfaceName));
}

function toExpression(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
