/** Finds the interfaces of a virtual machine to explain, and the parts of its specification that cannot be fulfilled. */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { networkKey, reasonOf } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import type { ReachableInterfaces, ReachProblem, VirtualMachineProblem, WrittenProblem } from '@vmdhcp/reconciler/readers';
import { type RememberedInterfaces, readRememberedInterfaces } from '@vmdhcp/reconciler/readers';
import { type Finding, finding } from './address-chain.js';

/** An interface whose way to its address is shown. */
export interface ChainInterface {
  readonly name: string;
  /** `namespace/name`; empty if it names none. */
  readonly network: string;
  /** The text as written if it is not valid; undefined if there is none yet. */
  readonly macAddress: string | undefined;
  readonly findings: readonly Finding[];
}

/** The entries of a VirtualMachineNetworkConfig, by the names that it remembers. */
export function entriesOf(config: KubernetesObject, namespace: string): ChainInterface[] {
  const remembered = readRememberedInterfaces(config);
  return readList(config.spec, 'networkConfigs').map((entry, index) => {
    const networkName = readText(entry, 'networkName') ?? '';
    const network = networkName === '' ? '' : networkKey(networkName, namespace);
    const text = readText(entry, 'macAddress') ?? '';
    const macAddress = parseMacAddress(text) ?? text;
    return { name: nameIn(remembered, network, macAddress) ?? `entry ${index + 1}`, network, macAddress, findings: [] };
  });
}

function nameIn(remembered: RememberedInterfaces, network: string, macAddress: string): string | undefined {
  return [...remembered].find(([, one]) => one.networkName === network && one.macAddress === macAddress)?.[0];
}

export interface InterfaceSources {
  readonly wanted: ReachableInterfaces;
  readonly config: KubernetesObject | undefined;
  /** For people. */
  readonly awaits: string;
}

export function interfacesOf({ wanted, config, awaits }: InterfaceSources, namespace: string): ChainInterface[] {
  const { reach } = wanted;
  const problems = wanted.problems.filter((one) => !reach.some((each) => each.reason === one.reason));
  if (wanted.interfaces === undefined) return config === undefined ? [] : entriesOf(config, namespace);
  const tooMany = wanted.interfaces.length > MOST_INTERFACES;
  const known = wanted.interfaces.map(({ name, networkName: network, macAddress }): ChainInterface => {
    const isLeftOut = tooMany && !hasEntry(config, { network, macAddress }, namespace);
    const findings = isLeftOut ? [finding('TooManyInterfaces')] : [];
    return { name, network, macAddress, findings: [...findings, ...problemsOf(problems, name), ...reachOf(reach, name)] };
  });
  const leftOut = reach.filter(({ isLeftOut }) => isLeftOut);
  const unreached = leftOut.map(({ interface: name, networkName: network, macAddress }): ChainInterface => {
    return { name, network, macAddress, findings: reachOf(reach, name) };
  });
  const awaited = [...wanted.awaited].map(([name, network]): ChainInterface => {
    const findings = [finding('AwaitingMacAddress', awaits), ...problemsOf(problems, name), ...reachOf(reach, name)];
    return { name, network, macAddress: undefined, findings };
  });
  const held = wanted.held.map(({ name, networkName: network, macAddress }): ChainInterface => {
    return { name, network, macAddress, findings: [...heldBy(problems, name), ...reachOf(reach, name)] };
  });
  const shown = new Set([...known, ...unreached, ...awaited, ...held].map(({ name }) => name));
  const refused = problems.flatMap((problem): ChainInterface[] => {
    const name = interfaceNamedBy(problem);
    if (name === undefined || shown.has(name)) return [];
    shown.add(name);
    const macAddress = problem.place.part === 'interface' ? String(problem.value) : undefined;
    return [{ name, network: '', macAddress, findings: problemsOf(problems, name) }];
  });
  return [...known, ...unreached, ...awaited, ...held, ...refused];
}

/** The largest number of interfaces that a VirtualMachineNetworkConfig can hold. */
const MOST_INTERFACES = 4;

export function hasEntry(
  config: KubernetesObject | undefined,
  { network, macAddress }: Pick<ChainInterface, 'network' | 'macAddress'>,
  namespace: string,
): boolean {
  return (
    config !== undefined && entriesOf(config, namespace).some((one) => one.network === network && one.macAddress === macAddress)
  );
}

/** Why the interface keeps what it has: its own problem with the annotation, or that of the whole annotation. */
function heldBy(problems: readonly WrittenProblem[], name: string): Finding[] {
  const whole = problems.filter((one) => one.reason === 'pinned-addresses-unreadable' && interfaceNamedBy(one) === undefined);
  return [...whole.map(({ reason, message }) => finding(reasonOf(reason), message)), ...problemsOf(problems, name)];
}

function problemsOf(problems: readonly WrittenProblem[], name: string): Finding[] {
  return problems
    .filter((problem) => interfaceNamedBy(problem) === name)
    .map(({ reason, message }) => finding(reasonOf(reason), message));
}

/** An interface that has its address in spite of it is served as far as that goes. */
function reachOf(reach: readonly ReachProblem[], name: string): Finding[] {
  return reach
    .filter((one) => one.interface === name)
    .map(({ reason, message, isLeftOut }) => finding(reasonOf(reason), message, isLeftOut ? 'broken' : 'note'));
}

/** Undefined if the problem concerns the whole virtual machine. */
export function interfaceNamedBy(problem: VirtualMachineProblem | WrittenProblem): string | undefined {
  if (!('place' in problem)) return undefined;
  const { part, name, interfaceName } = problem.place;
  return part === 'interface' || part === 'network' ? name : interfaceName;
}
