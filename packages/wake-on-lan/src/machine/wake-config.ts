/** Which machines one configuration allows to be woken. */
import { isGroupMacAddress, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { type LabelSelector, selects, unknownOperators } from './label-selector.js';

/** One machine by name, and the MAC address by which it is woken, which need not belong to it. */
export interface ExplicitMapping {
  /** In any spelling. */
  readonly macAddress: string;
  readonly namespace: string;
  readonly name: string;
}

interface ConfigIdentity {
  readonly name: string;
  /** Machines of other namespaces are never allowed; empty for all namespaces. */
  readonly namespaces: readonly string[];
  /** `SECRET/KEY` of the SecureOn password without which it allows nothing; absent if packets need none. */
  readonly passwordSecret?: string;
}

/** What a configuration allows. Source: wol.pillon.org/v1beta1 WolConfig, `spec.discoveryMode`. */
export type WakeConfig =
  | (ConfigIdentity & { readonly mode: 'All' })
  | (ConfigIdentity & { readonly mode: 'LabelSelector'; readonly selector: LabelSelector })
  | (ConfigIdentity & { readonly mode: 'Explicit'; readonly mappings: readonly ExplicitMapping[] });

/** A machine that may or may not be woken. */
export interface WakeMachine {
  readonly namespace: string;
  readonly name: string;
  /** The labels of its object in Kubernetes, if known. */
  readonly uid?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The addresses of all its interfaces, in any spelling. */
  readonly macAddresses: readonly string[];
}

/** `namespace/name` of a machine. */
export type MachineKey = string;

/** `namespace/name`. */
export function machineKey({ namespace, name }: { readonly namespace: string; readonly name: string }): MachineKey {
  return `${namespace}/${name}`;
}

/** The MAC addresses by which a machine may be woken; empty if it may not. */
export type Allowance = (machine: WakeMachine) => readonly MacAddress[];

const NOTHING: readonly MacAddress[] = [];

/** What a configuration allows for each machine. */
export function allowanceOf(config: WakeConfig): Allowance {
  const allowance = allowanceOfMode(config);
  return (machine) => (isInNamespaces(config, machine.namespace) ? allowance(machine) : NOTHING);
}

function allowanceOfMode(config: WakeConfig): Allowance {
  switch (config.mode) {
    case 'All':
      return ({ macAddresses }) => machineAddresses(macAddresses);
    case 'LabelSelector':
      return ({ labels, macAddresses }) => (selects(config.selector, labels) ? machineAddresses(macAddresses) : NOTHING);
    case 'Explicit': {
      const byMachine = Map.groupBy(config.mappings, machineKey);
      return (machine) => machineAddresses((byMachine.get(machineKey(machine)) ?? []).map(({ macAddress }) => macAddress));
    }
  }
}

/**
 * The addresses that mappings of a configuration give to a machine, whether it exists or not. Mappings that allow nothing give
 * none.
 */
export function mappedAddresses(config: WakeConfig): readonly MacAddress[] {
  if (config.mode !== 'Explicit') return [];
  const mappings = config.mappings.filter(({ namespace }) => isInNamespaces(config, namespace));
  return machineAddresses(mappings.map(({ macAddress }) => macAddress));
}

/** Describes the problems of a configuration, with the remedy; a part with a problem allows nothing. */
export function wakeConfigProblems(config: WakeConfig): readonly string[] {
  switch (config.mode) {
    case 'All':
      return [];
    case 'LabelSelector':
      return unknownOperators(config.selector).map(
        (operator) => `operator ${operator} is unknown, so that no machine is selected; use In, NotIn, Exists or DoesNotExist`,
      );
    case 'Explicit':
      return config.mappings.flatMap((mapping) => mappingProblems(config, mapping));
  }
}

function mappingProblems(config: WakeConfig, mapping: ExplicitMapping): string[] {
  const machine = machineKey(mapping);
  return [
    ...(machineAddresses([mapping.macAddress]).length > 0
      ? []
      : [`mapping of ${machine}: ${JSON.stringify(mapping.macAddress)} is not the MAC address of a machine; write six octets`]),
    ...(isInNamespaces(config, mapping.namespace)
      ? []
      : [`mapping of ${machine}: namespace ${mapping.namespace} is not in namespaceSelectors; add it, or remove the mapping`]),
  ];
}

function isInNamespaces({ namespaces }: ConfigIdentity, namespace: string): boolean {
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** In the canonical spelling, each once, without invalid texts and addresses that no machine has. */
function machineAddresses(texts: readonly string[]): MacAddress[] {
  const read = texts.flatMap((text) => parseMacAddress(text) ?? []);
  return [...new Set(read)].filter((mac) => !isGroupMacAddress(mac) && mac !== '00:00:00:00:00:00');
}
