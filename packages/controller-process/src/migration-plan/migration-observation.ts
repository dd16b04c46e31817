/** The observed state for a migration from Harvester's vm-dhcp-controller, or back to it. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';

/** `forward`: from Harvester's vm-dhcp-controller to this one. `back`: the other way. */
export type MigrationDirection = 'forward' | 'back';

/** Which program a Deployment runs, in a migration. */
export type WorkloadRole = 'upstream-controller' | 'upstream-webhook' | 'own-controller' | 'own-webhook';

export interface ObservedWorkload {
  readonly role: WorkloadRole;
  readonly deployment: KubernetesObject;
  /** Its pods that have not ended. */
  readonly pods: number;
}

export interface ObservedDefinition {
  readonly definition: KubernetesObject;
  /** True if it has everything that ours has. */
  readonly isOurs: boolean;
  /** True if its specification equals that of the backup. Undefined if there is no backup. */
  readonly isAsBackedUp: boolean | undefined;
}

export interface MigrationObservation {
  /** Deployments of both controllers and both webhooks. */
  readonly workloads: readonly ObservedWorkload[];
  /** The CustomResourceDefinitions of IPPool and VirtualMachineNetworkConfig that exist. */
  readonly definitions: readonly ObservedDefinition[];
  /** Our definitions that do not exist, by name. */
  readonly missingDefinitions: readonly string[];
  /** Add-ons of Harvester (`harvesterhci.io` Addon) that install its vm-dhcp-controller. */
  readonly addOns: readonly KubernetesObject[];
  /** Webhook configurations of both kinds with rules for our objects. */
  readonly registrations: readonly KubernetesObject[];
  readonly pools: readonly KubernetesObject[];
  /** Pods with the agents' label, of all namespaces. */
  readonly agentPods: readonly KubernetesObject[];
  /** Objects with the agents' label that the controller created, of all namespaces: see `Installation`. */
  readonly agentDeployments: readonly KubernetesObject[];
  readonly agentLeases: readonly KubernetesObject[];
  readonly agentRights: readonly KubernetesObject[];
  /** True if the file of the backup exists. */
  readonly hasBackup: boolean;
  /** True if no object of the backup exists in this cluster. */
  readonly isForeignBackup?: boolean;
}

/** The observation of a cluster without either controller. */
export const NOTHING_OBSERVED: MigrationObservation = {
  workloads: [],
  definitions: [],
  missingDefinitions: [],
  addOns: [],
  registrations: [],
  pools: [],
  agentPods: [],
  agentDeployments: [],
  agentLeases: [],
  agentRights: [],
  hasBackup: false,
};
