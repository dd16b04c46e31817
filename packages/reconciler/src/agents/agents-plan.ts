/** The result of the plan of all agents, and its settings. */

import type { AgentLogSettings } from '@vmdhcp/ippool-api';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import type { AgentPodSettings } from './agent-deployment.js';
import type { RightsAction } from './plan-group-rights.js';
import type { GroupingSettings } from './topology.js';

/** How pools are grouped, what agents are made of, and how carefully they are upgraded. */
export interface AgentsSettings extends GroupingSettings {
  readonly namespace: string;
  /** Settings of Deployments; undefined only if the topology creates none. */
  readonly pods: AgentPodSettings | undefined;
  /** How many groups are upgraded at a time; changes of configured pools do not wait. */
  readonly maxGroupsUpgrading: number;
  /** How many renewals of Leases are allowed per second, for all groups together. Default: no limit. */
  readonly leaseWritesPerSecond?: number;
  /** The log settings of the agents; a setting that is left out comes from their command line. */
  readonly log?: AgentLogSettings;
  /** True if each group has a ServiceAccount with rights only to its own Lease and pools, and the controller creates its Lease. */
  readonly groupRights?: boolean;
  /** The previous namespace: agents that still run there hand over their pools, and are removed. */
  readonly previousNamespace?: string | undefined;
  /** The Deployment of the topology `unified`. */
  readonly unified: {
    readonly deploymentName: string;
    readonly containerName: string;
    /** True if its agents serve nothing. */
    readonly dryRun?: boolean;
  };
}

export type DeploymentAction =
  | { readonly kind: 'create-deployment'; readonly group: string; readonly deployment: KubernetesObject }
  | {
      readonly kind: 'patch-deployment';
      readonly group: string;
      readonly deployment: KubernetesObject;
      readonly patch: MergePatch;
      /** True if the configured pools change. */
      readonly changesPools: boolean;
    };

export type LeaseAction =
  | {
      readonly kind: 'create-lease';
      readonly group: string;
      /** Pools that are suspended for the group. */
      readonly poolKeys: readonly string[];
      /** True if an agent may still be leader by a former Lease of this name, so that no agent may take the new one at once. */
      readonly isGuarded: boolean;
      /** How often its leader should renew it; undefined for the default. */
      readonly renewPeriodMs?: number;
      /** The longest period that a former Lease of this name may have had. */
      readonly guardPeriodMs?: number;
    }
  | {
      readonly kind: 'suspend';
      readonly group: string;
      readonly lease: KubernetesObject;
      readonly poolKeys: readonly string[];
    }
  | {
      readonly kind: 'set-lease-settings';
      readonly group: string;
      readonly lease: KubernetesObject;
      /** Only changes; null removes an annotation. */
      readonly annotations: Readonly<Record<string, string | null>>;
    };

/** One write that brings the agents closer to what is wanted. */
export type AgentAction =
  | DeploymentAction
  | LeaseAction
  | RightsAction
  | { readonly kind: 'delete-deployment'; readonly group: string; readonly deployment: KubernetesObject }
  | { readonly kind: 'delete-lease'; readonly group: string; readonly lease: KubernetesObject }
  | { readonly kind: 'delete-pod'; readonly pod: KubernetesObject };

/** Why a group's Deployment is wrong, or does not serve a pool. */
export interface GroupProblem {
  readonly reason:
    | 'AgentSelectorMismatch'
    | 'AgentDeploymentConflict'
    | 'AgentDeploymentMissing'
    | 'AgentContainerMissing'
    | 'AgentRightsMissing'
    | 'AgentConfigTooLarge';
  readonly message: string;
}

export interface AgentsPlan {
  readonly actions: readonly AgentAction[];
  /** Each pool's group, by pool. */
  readonly groupOf: ReadonlyMap<string, string>;
  /** The group that may serve the pool now, if that is another one. */
  readonly servedBy: ReadonlyMap<string, string>;
  readonly problems: ReadonlyMap<string, GroupProblem>;
  /** Pools that do not fit into the configuration of their group's agents, by pool. Agents that already serve such a pool continue. */
  readonly leftOut: ReadonlyMap<string, GroupProblem>;
}
