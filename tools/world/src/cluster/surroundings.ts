import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import type { ApiLink } from '../api/transport.js';
import type { Segment } from '../network/segment.js';
import type { PlantedFault } from '../planted-faults.js';
import type { Scheduler } from '../time/scheduler.js';
import type { WakeManager } from '../wake/wake-manager.js';

/** The surroundings of a program in a world. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly simulator: KubeSimulator;
  /** By `namespace/name` of the NetworkAttachmentDefinition. */
  readonly segments: ReadonlyMap<string, Segment>;
  /** The network of a pod on this node; undefined if there is none of this name. */
  readonly segmentAt: (node: string, network: string) => Segment | undefined;
  /** The link from a node to the API server. */
  readonly linkOf: (node: string) => ApiLink;
  /** Returns a token of a ServiceAccount. */
  readonly tokenOf: (namespace: string, serviceAccount: string) => () => string;
  readonly fault: PlantedFault | undefined;
  /** True if the cluster has a WolConfig, and controllers with Wake-on-LAN. */
  readonly hasWakeOnLan: boolean;
  /** KubeVirt's answer to a request for a subresource. */
  readonly subresource: (path: string) => Promise<{ readonly status: number; readonly message: string }>;
  /** The managers that agents for Wake-on-LAN may reach. */
  readonly managers: () => readonly WakeManager[];
}
