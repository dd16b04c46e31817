import { type ParsedKind, parseByKind, type SchemaByKind } from '../parse-by-kind.js';
import { type ClusterAgent, clusterAgent } from './cluster-agent.js';
import { type HostEndpoint, hostEndpoint } from './host-endpoint.js';
import { type HostOperation, hostOperation } from './host-operation.js';
import { type HostStatus, hostStatus } from './host-status.js';

/** An object of a kind of bare-metal hosts. */
export type BareMetalObject = ClusterAgent | HostEndpoint | HostStatus | HostOperation;

const SCHEMAS: SchemaByKind<BareMetalObject> = {
  ClusterAgent: clusterAgent,
  HostEndpoint: hostEndpoint,
  HostStatus: hostStatus,
  HostOperation: hostOperation,
};

/** The bare-metal object in parsed YAML or JSON, with defaults, or everything that its schema finds wrong with it. Never throws. */
export function parseBareMetalObject(value: unknown): ParsedKind<BareMetalObject> {
  return parseByKind(SCHEMAS, value);
}
