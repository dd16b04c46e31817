import type { Lab, Machine } from './lab.js';

export interface LabNodeSettings {
  readonly name: string;
  /** From 1; unique for each node. */
  readonly number: number;
  /** The network of the nodes and of the API server. */
  readonly managementNetwork: string;
  /** Further network cards: names beginning with `eth` or `en`, and the network of the lab that each is plugged into. */
  readonly cards: Readonly<Record<string, string>>;
}

/** A node of a simulated cluster as a machine of the lab: pods with `hostNetwork` run in its network namespace. */
export interface LabNode {
  /** Its address on the management network; that of its pods with `hostNetwork` too. */
  readonly address: string;
  readonly machine: Machine;
}

/** The address that the node of this number has. */
export function nodeAddress(number: number): string {
  return `10.99.254.${number}`;
}

/** Makes the machine of a node: `eth0` is on the management network. */
export async function createLabNode(lab: Lab, { name, number, managementNetwork, cards }: LabNodeSettings): Promise<LabNode> {
  const address = nodeAddress(number);
  const machine = await lab.createMachine(name, {
    network: managementNetwork,
    macAddress: `02:00:00:98:00:${number.toString(16).padStart(2, '0')}`,
    address: `${address}/16`,
    interfaces: new Map(Object.entries(cards)),
  });
  return { address, machine };
}
