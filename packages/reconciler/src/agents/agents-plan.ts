/** What the plan of all agents comes to, and the settings that decide it. */

import type { AgentLogSettings } from '@vmdhcp/ippool-api';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import type { AgentPodSettings } from './agent-deployment.js';
import type { RightsAction } from './plan-group-rights.js';
import type { GroupingSettings } from './topology.js';

export interface AgentsSettings extends GroupingSettings {
  readonly namespace: string;
  /** How Deployments are made; undefined only where the topology makes none. */
  readonly pods: AgentPodSettings | undefined;
  /** How many groups are upgraded at a time; changes of configured pools do not wait. */
  readonly maxGroupsUpgrading: number;
  /** How many Leases of groups are renewed in a second, all together. Default: no limit. */
  readonly leaseWritesPerSecond?: number;
  /** What the agents log; what is left out is as their command line specifies. */
  readonly log?: AgentLogSettings;
  /** True: each group has a ServiceAccount with rights to its own Lease and pools, and its Lease is made for it. */
  readonly groupRights?: boolean;
  /** Where agents ran before: those that are still there hand over their pools, and are removed. */
  readonly previousNamespace?: string | undefined;
  /** The Deployment of the topology `unified`. */
  readonly unified: {
    readonly deploymentName: string;
    readonly containerName: string;
    /** True: its agents serve nothing. */
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
      /** True: the configured pools are others than before. */
      readonly changesPools: boolean;
    };

export type LeaseAction =
  | {
      readonly kind: 'create-lease';
      readonly group: string;
      /** Pools that are suspended for the group. */
      readonly poolKeys: readonly string[];
      /** True: an agent may still be leader by an earlier Lease of this name, so that no agent may take this one at once. */
      readonly isGuarded: boolean;
      /** How often its leader is to renew it; undefined: as often as it does by itself. */
      readonly renewPeriodMs?: number;
      /** The period that an earlier Lease of this name may have had, at most. */
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
      /** Only what changes; null removes an annotation. */
      readonly annotations: Readonly<Record<string, string | null>>;
    };

export type AgentAction =
  | DeploymentAction
  | LeaseAction
  | RightsAction
  | { readonly kind: 'delete-deployment'; readonly group: string; readonly deployment: KubernetesObject }
  | { readonly kind: 'delete-lease'; readonly group: string; readonly lease: KubernetesObject }
  | { readonly kind: 'delete-pod'; readonly pod: KubernetesObject };

/** Why a group's Deployment is not as it should be, or does not serve a pool. */
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
  /** The group that may serve the pool now, where that is another one. */
  readonly servedBy: ReadonlyMap<string, string>;
  readonly problems: ReadonlyMap<string, GroupProblem>;
  /** Pools that the configuration of their group's agents has no room for, by pool. What serves such a pool now goes on. */
  readonly leftOut: ReadonlyMap<string, GroupProblem>;
}
