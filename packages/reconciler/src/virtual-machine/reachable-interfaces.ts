/**
 * The wanted interfaces that DHCP reaches. An interface that no DHCP reaches gets no entry, and so no address. One that has an entry or an address keeps
 * it: its machine may have been running with that address for long, and freeing it would be worse than keeping it.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { EXTERNAL_DHCP_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, quote } from '@vmdhcp/kube-runtime';
import { type InterfaceReach, judgeReach, type ReachReason } from '../network/interface-reach.js';
import { readInterfaceBindings } from './interface-binding.js';
import { interfaceShape } from './machine-interfaces.js';
import { readNetworkConfigs } from './network-config-entries.js';
import { type RememberedInterfaces, readRememberedInterfaces } from './remembered-interfaces.js';
import type { WrittenProblem } from './virtual-machine-problem.js';
import { type MachineKnowledge, type WantedInterfaces, wantedInterfaces } from './wanted-interfaces.js';

export interface ReachContext {
  readonly known: MachineKnowledge;
  /** The VirtualMachineNetworkConfig; undefined if there is none. */
  readonly observed: KubernetesObject | undefined;
}

/** An interface that no DHCP reaches, or that another server answers too. */
export interface ReachProblem extends Omit<WrittenProblem, 'reason'> {
  readonly reason: ReachReason;
  readonly interface: string;
  readonly networkName: string;
  readonly macAddress: MacAddress | undefined;
  /** True if the interface has no entry because of it. */
  readonly isLeftOut: boolean;
}

export interface ReachableInterfaces extends WantedInterfaces {
  /** At most one for each interface; `problems` has those among them that the owner of the virtual machine is told. */
  readonly reach: readonly ReachProblem[];
}

/** Reads any object. Never throws. */
export function reachableInterfaces(virtualMachine: KubernetesObject, { known, observed }: ReachContext): ReachableInterfaces {
  const wanted = wantedInterfaces(virtualMachine, known);
  if (wanted.interfaces === undefined) return { ...wanted, reach: [] };
  const bindings = readInterfaceBindings(interfaceShape(virtualMachine, known.instance));
  const awaited = [...wanted.awaited].map(([name, networkName]) => ({ name, networkName, macAddress: undefined }));
  const kept = { known, entries: entriesByNetwork(observed), recorded: readRememberedInterfaces(observed) };
  const reach = [...wanted.interfaces, ...awaited, ...wanted.held].flatMap((one) => {
    const network = known.networks?.definition(one.networkName);
    if (network?.metadata.annotations?.[EXTERNAL_DHCP_ANNOTATION] === 'true') return [];
    const judged = judgeReach(bindings.get(one.name) ?? { kind: 'bridge' }, network);
    return judged.kind === 'served' ? [] : [toReachProblem(one, judged, hasEntryOrAddress(one, kept))];
  });
  const leftOut = new Set(reach.filter(({ isLeftOut }) => isLeftOut).map((one) => one.interface));
  // The IPPool of a network with two servers tells its owner once, not each virtual machine.
  const told = reach.filter(isNotServed).filter(({ networkName }) => known.networks?.isServed(networkName) !== false);
  return {
    interfaces: wanted.interfaces.filter(({ name }) => !leftOut.has(name)),
    awaited: new Map([...wanted.awaited].filter(([name]) => !leftOut.has(name))),
    held: wanted.held.filter(({ name }) => !leftOut.has(name)),
    problems: [...wanted.problems, ...told],
    reach,
  };
}

/** True unless the agents answer the interface. */
export function isNotServed(problem: ReachProblem): problem is ReachProblem & WrittenProblem {
  return problem.reason === 'binding-not-served' || problem.reason === 'network-not-served';
}

interface JudgedInterface {
  readonly name: string;
  readonly networkName: string;
  /** Undefined if not known yet. */
  readonly macAddress: MacAddress | undefined;
}

function toReachProblem(
  { name, networkName, macAddress }: JudgedInterface,
  { kind, reason, explanation }: Exclude<InterfaceReach, { readonly kind: 'served' }>,
  isKept: boolean,
): ReachProblem {
  const isLeftOut = kind === 'not-served' && !isKept;
  const effect = kind === 'served-twice' ? '' : isLeftOut ? ', so it gets no address' : ', and it keeps the address that it has';
  const fault = `interface ${quote(name)}: ${explanation.message}${effect}`;
  const { remedy } = explanation;
  const about = { place: { part: 'interface', name }, value: name, fault, remedy, message: `${fault}; ${remedy}` } as const;
  return { reason, ...about, interface: name, networkName, macAddress, isLeftOut };
}

/** What a machine may lose. Read once: a machine may have thousands of interfaces. */
interface KeptFacts {
  readonly known: MachineKnowledge;
  /** MAC addresses of the entries of its config, by network; undefined if it is invalid. */
  readonly entries: ReadonlyMap<string, ReadonlySet<MacAddress | undefined>>;
  readonly recorded: RememberedInterfaces;
}

function entriesByNetwork(observed: KubernetesObject | undefined): KeptFacts['entries'] {
  const entries = new Map<string, Set<MacAddress | undefined>>();
  for (const { networkName, macAddress } of observed === undefined ? [] : readNetworkConfigs(observed)) {
    const onNetwork = entries.get(networkName) ?? new Set();
    entries.set(networkName, onNetwork.add(parseMacAddress(macAddress)));
  }
  return entries;
}

/** An interface without a MAC address may be that of any entry on its network. */
function hasEntryOrAddress({ name, networkName, macAddress }: JudgedInterface, { known, entries, recorded }: KeptFacts): boolean {
  const onNetwork = entries.get(networkName);
  if (macAddress === undefined && onNetwork !== undefined) return true;
  const remembered = recorded.get(name);
  // While it moves to another network, its guest may still use the former one.
  if (remembered !== undefined && known.instance !== undefined) return true;
  const former = [known.remembered?.get(name), remembered].flatMap((one) =>
    one?.networkName === networkName ? [one.macAddress, ...one.replaces] : [],
  );
  return [...(macAddress === undefined ? [] : [macAddress]), ...former].some(
    (one) => onNetwork?.has(one) === true || known.hasAddress?.(networkName, one) === true,
  );
}
