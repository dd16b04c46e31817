/** Groups of agents as tests observe them. */
import {
  AGENT_REPORT_ANNOTATION,
  formatAgentReport,
  formatSuspendedPools,
  type PoolReport,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import type { ActivePool, AgentsObservation, ObservedGroup } from './agents-observation.js';
import type { AgentsSettings } from './agents-plan.js';
import type { GroupContext } from './group-context.js';
import { type GroupLeaseReading, readGroupLease } from './group-lease.js';
import { PoolHandover } from './pool-handover.js';

export const SETTINGS: AgentsSettings & { readonly pods: NonNullable<AgentsSettings['pods']> } = {
  namespace: 'agents',
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 1,
  pods: {
    namespace: 'agents',
    image: 'agent:v2',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [],
    serviceAccountName: 'agent',
    priorityClassName: undefined,
    replicas: 2,
    resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
    leaseSeconds: 3,
    dryRun: false,
  },
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

export function activePool(key: string, more: Partial<ActivePool> = {}): ActivePool {
  return {
    key,
    network: key,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    placement: onClusterNetwork('vlan'),
    holdsImage: false,
    recorded: { group: undefined, image: undefined },
    ...more,
  };
}

export const SERVING: PoolReport = { serving: true };
export const READY: PoolReport = { serving: false, reason: 'Suspended' };
export const DRAINS: PoolReport = { serving: false, reason: 'Draining' };

export interface LeaseText {
  readonly suspended?: readonly string[];
  /** The suspended pools that the leader has read; default: all of them as they are now. */
  readonly seen?: readonly string[];
  readonly report?: Readonly<Record<string, PoolReport>>;
  /** Default: a pod. Empty: there is no leader. */
  readonly leader?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function lease({ suspended = [], seen, report = {}, leader = 'pod_1', annotations = {} }: LeaseText): GroupLeaseReading {
  const text = formatSuspendedPools(suspended);
  const metadata = {
    namespace: 'agents',
    name: 'lease',
    uid: 'l',
    annotations: {
      [SUSPENDED_POOLS_ANNOTATION]: text,
      [SUSPENDED_POOLS_SEEN_ANNOTATION]: seen === undefined ? text : formatSuspendedPools(seen),
      [AGENT_REPORT_ANNOTATION]: formatAgentReport(new Map(Object.entries(report))),
      ...annotations,
    },
  };
  return readGroupLease({ metadata, spec: { holderIdentity: leader } }, leader === '');
}

export const NO_LEASE = readGroupLease(undefined, true);

const READY_PODS = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, observedGeneration: 1 };

export function deployment(name: string, { isRolledOut = true }: { readonly isRolledOut?: boolean } = {}): KubernetesObject {
  const status = isRolledOut ? READY_PODS : { ...READY_PODS, observedGeneration: 0 };
  const metadata = { namespace: 'agents', name, uid: 'd', generation: 1 };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2 }, status };
}

export interface GroupState {
  readonly configured?: readonly string[];
  readonly lease?: LeaseText | 'none';
  readonly deployment?: KubernetesObject | 'none';
}

/** A group whose Deployment is rolled out, unless something else is specified. */
export function group(name: string, { configured = [], lease: text = {}, deployment: own }: GroupState): ObservedGroup {
  return {
    deployment: own === 'none' ? undefined : (own ?? deployment(name)),
    configured: new Map(configured.map((key) => [key, activePool(key)])),
    lease: text === 'none' ? NO_LEASE : lease(text),
  };
}

export interface ClusterState extends Partial<Omit<AgentsObservation, 'groups' | 'groupsWithPods' | 'legacyPods'>> {
  readonly groups?: Readonly<Record<string, GroupState>>;
  /** Default: 0. */
  readonly neededRenewPeriodMs?: number;
  readonly groupsWithPods?: readonly string[];
  readonly legacyPods?: Readonly<Record<string, readonly KubernetesObject[]>>;
}

export function observation({ groups = {}, groupsWithPods = [], legacyPods = {}, ...rest }: ClusterState): AgentsObservation {
  return {
    pools: [],
    nowMs: 0,
    ...rest,
    groups: new Map(Object.entries(groups).map(([name, state]) => [name, group(name, state)])),
    groupsWithPods: new Set(groupsWithPods),
    legacyPods: new Map(Object.entries(legacyPods)),
  };
}

/** @param own - each pool's own group, by pool. */
export function contextOf(
  state: ClusterState,
  own: Readonly<Record<string, string>>,
  settings: Partial<AgentsSettings> = {},
): GroupContext {
  const groupOf = new Map(Object.entries(own));
  const pools = state.pools ?? [...groupOf.keys()].map((key) => activePool(key));
  const observed = observation({ ...state, pools });
  const all = { ...SETTINGS, ...settings };
  const names = new Set(groupOf.values());
  return {
    observed,
    settings: all,
    pools: new Map(pools.map((pool) => [pool.key, pool])),
    groups: new Map(
      [...names].map((name) => [
        name,
        {
          name,
          placement: onClusterNetwork('vlan'),
          poolKeys: [...groupOf].flatMap(([key, one]) => (one === name ? [key] : [])),
        },
      ]),
    ),
    groupOf,
    handover: new PoolHandover(observed, groupOf, all.groupRights === true),
    neededRenewPeriodMs: state.neededRenewPeriodMs ?? 0,
  };
}
