/**
 * The link of the virtual machine: whether it exists and runs, its interfaces, and the parts of its specification that cannot be
 * fulfilled.
 */
import { reasonOf } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { VirtualMachineProblem } from '@vmdhcp/reconciler/readers';
import {
  describeMissingVirtualMachine,
  hasUnseenInstance,
  planNetworkConfig,
  reachableInterfaces,
  readRememberedInterfaces,
  readRunningInstance,
  type WantedInterfaces,
} from '@vmdhcp/reconciler/readers';
import { type Finding, finding, type LinkFacts } from './address-chain.js';
import { conditionOf, findingOf, findingsOfEvents } from './chain-conditions.js';
import { eventsAbout } from './chain-events.js';
import { type ChainObservation, objectOf } from './chain-observation.js';
import { type ChainInterface, entriesOf, hasEntry, interfaceNamedBy, interfacesOf } from './machine-interfaces.js';

export interface MachineReading {
  readonly facts: LinkFacts;
  readonly findings: readonly Finding[];
  readonly interfaces: readonly ChainInterface[];
  readonly isRunning: boolean;
}

export function readMachine(observation: ChainObservation): MachineReading {
  const machine = objectOf(observation.virtualMachine);
  return machine === undefined ? withoutMachine(observation) : ofMachine(machine, observation);
}

function withoutMachine(observation: ChainObservation): MachineReading {
  const config = objectOf(observation.networkConfig);
  const isMissing = observation.virtualMachine.kind === 'missing';
  const interfaces = config === undefined ? [] : entriesOf(config, observation.namespace);
  const link = { link: 'virtual-machine', object: nameOf(observation) } as const;
  const facts = isMissing
    ? { ...link, facts: 'does not exist', isAbsent: true }
    : { ...link, facts: 'cannot be read', isUnknown: true };
  const isRunning = objectOf(observation.instance) !== undefined;
  return { facts, findings: findingsWithoutMachine(observation, interfaces.length), interfaces, isRunning };
}

function findingsWithoutMachine({ virtualMachine, networkConfig }: ChainObservation, interfaces: number): Finding[] {
  const config = objectOf(networkConfig);
  const isMissing = virtualMachine.kind === 'missing';
  if (config === undefined) return isMissing && networkConfig.kind === 'missing' ? [finding('VirtualMachineUnknown')] : [];
  const missing = isMissing ? describeMissingVirtualMachine(config) : undefined;
  const outlives = missing === undefined ? [] : [finding('VirtualMachineMissing', missing.message)];
  return [...outlives, ...(interfaces === 0 ? refusalOf(config) : [])];
}

function nameOf({ namespace, name }: ChainObservation): string {
  return `VirtualMachine ${namespace}/${name}`;
}

/** For a VirtualMachineNetworkConfig without interfaces. */
function refusalOf(config: KubernetesObject): Finding[] {
  const allocated = conditionOf(config, 'Allocated');
  return allocated?.status === 'False' ? findingOf(allocated, true) : [];
}

function ofMachine(machine: KubernetesObject, observation: ChainObservation): MachineReading {
  const config = objectOf(observation.networkConfig);
  const instance = objectOf(observation.instance);
  const running = readRunningInstance(machine, instance);
  const isUnseen = observation.instance.kind === 'missing' && hasUnseenInstance(machine, instance);
  const known = running ?? (isUnseen ? ('unseen' as const) : undefined);
  const networks = { definition: (key: string) => objectOf(observation.networks.get(key)), isServed: () => true };
  const knowledge = { instance: known, remembered: readRememberedInterfaces(config), networks };
  const wanted = reachableInterfaces(machine, { known: knowledge, observed: config });
  const plan = planNetworkConfig(machine, config, knowledge);
  const interfaces = interfacesOf({ wanted, config, awaits: plan.awaits ?? '' }, observation.namespace);
  const isStopped = known === undefined && observation.instance.kind !== 'refused';
  const findings = [
    ...plan.problems.flatMap((problem) => machineFinding(problem, wanted)),
    ...eventFindings(observation, interfaces),
    ...(isStopped ? [finding('VirtualMachineStopped')] : []),
  ];
  const isExplained = interfaces.length > 0 || findings.some(({ state }) => state === 'broken');
  return {
    facts: { link: 'virtual-machine', object: nameOf(observation), facts: describeState(machine, running !== undefined) },
    findings: isExplained ? findings : [...findings, finding('NoInterfaceOnNetwork')],
    interfaces,
    isRunning: running !== undefined,
  };
}

function describeState({ status }: KubernetesObject, isRunning: boolean): string {
  return readText(status, 'printableStatus') ?? (isRunning ? 'Running' : 'no running instance seen');
}

/** Reasons that only Events show. */
function eventFindings(observation: ChainObservation, interfaces: readonly ChainInterface[]): Finding[] {
  const config = objectOf(observation.networkConfig);
  const events = eventsAbout(observation.events, 'VirtualMachine', observation);
  // The Event is out of date once the VirtualMachineNetworkConfig exists.
  const isWritten = interfaces.every((one) => hasEntry(config, one, observation.namespace));
  const refused = config === undefined || !isWritten ? (['NetworkConfigRefused'] as const) : [];
  return findingsOfEvents(events, 'VirtualMachine', ['VirtualMachineInstancesUnreadable', ...refused]);
}

function machineFinding(problem: VirtualMachineProblem, { interfaces, held }: WantedInterfaces): Finding[] {
  const { reason, message } = problem;
  // These are shown at their interfaces.
  if (interfaceNamedBy(problem) !== undefined || reason === 'too-many-interfaces') return [];
  // Interfaces that wait for it show it; without one, nothing depends on it.
  if (reason === 'pinned-addresses-unreadable') return held.length > 0 ? [] : [finding(reasonOf(reason), message, 'note')];
  // The MAC addresses are known from another source.
  if (reason === 'mac-address-annotation-unreadable' && interfaces !== undefined)
    return [finding(reasonOf(reason), message, 'note')];
  return [finding(reasonOf(reason), message)];
}
