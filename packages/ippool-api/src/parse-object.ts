import { type IPPool, ipPool } from './ip-pool.js';
import { type NetworkAttachmentDefinition, networkAttachmentDefinition } from './network-attachment-definition.js';
import { type ParsedKind, parseByKind, type SchemaByKind } from './parse-by-kind.js';
import { type VirtualMachine, virtualMachine } from './virtual-machine.js';
import { type VirtualMachineNetworkConfig, virtualMachineNetworkConfig } from './virtual-machine-network-config.js';

/** An object of a kind that `parseObject` reads. */
export type ApiObject = IPPool | VirtualMachineNetworkConfig | NetworkAttachmentDefinition | VirtualMachine;

/** An object of one of the kinds of DHCP, or everything that is wrong with it. */
export type ParsedObject = ParsedKind<ApiObject>;

const SCHEMAS: SchemaByKind<ApiObject> = {
  IPPool: ipPool,
  VirtualMachineNetworkConfig: virtualMachineNetworkConfig,
  NetworkAttachmentDefinition: networkAttachmentDefinition,
  VirtualMachine: virtualMachine,
};

/** The object in parsed YAML or JSON, or everything that its schema finds wrong with it. Never throws. */
export function parseObject(value: unknown): ParsedObject {
  return parseByKind(SCHEMAS, value);
}
