import { describeReason, type PoolReport } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { type AgentsOfPool, agentConditions, conditionsOfKeptPod, conditionsWithoutAgents } from './agent-conditions.js';
import type { ObservedGroup } from './agents-observation.js';

const POOL = { key: 'default/net-48', network: 'default/vlan-48', serverIP: '10.0.0.2', cidr: '10.0.0.0/24' };
const ROLLED_OUT: KubernetesObject = {
  metadata: { namespace: 'vm-dhcp-agents', name: 'agents', generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
};
const ROLLING_OUT: KubernetesObject = { ...ROLLED_OUT, status: { observedGeneration: 0 } };
const STUCK = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out.' }];
const REFUSED = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: small' }];
const CRASHING: KubernetesObject = {
  metadata: { name: 'agents-1' },
  status: { containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
};

interface Facts {
  readonly deployment?: KubernetesObject | undefined;
  readonly isConfigured?: boolean;
  readonly isLive?: boolean;
  readonly report?: PoolReport;
  readonly ofHolder?: PoolReport;
  readonly pods?: readonly KubernetesObject[];
  readonly isLagging?: boolean;
  readonly problem?: AgentsOfPool['problem'];
}

function withConditions(conditions: readonly unknown[]): KubernetesObject {
  return { ...ROLLED_OUT, status: { ...(ROLLED_OUT.status as object), conditions } };
}

function group(report: PoolReport | undefined, { deployment, isConfigured = true, isLive = true }: Facts): ObservedGroup {
  const lease = {
    object: undefined,
    isLive,
    leader: 'agents-1',
    report: new Map(report === undefined ? [] : [[POOL.key, report]]),
    known: new Set<string>(),
    suspended: new Set<string>(),
    seen: new Set<string>(),
  };
  return { deployment, configured: new Map(isConfigured ? [[POOL.key, POOL]] : []), lease };
}

function agents(given: Facts): AgentsOfPool {
  const facts = { deployment: ROLLED_OUT, ...given };
  const { report, ofHolder, pods = [], isLagging = false, problem } = facts;
  const formerGroup = ofHolder === undefined ? undefined : group(ofHolder, facts);
  return { pool: POOL, group: 'agents', observed: group(report, facts), formerGroup, problem, pods, isLagging };
}

/** `Registered` and `AgentReady`, as status and reason. */
function conditionsOf(facts: Facts): string[] {
  return agentConditions(agents(facts))
    .filter(({ type }) => type !== 'RogueServer')
    .map(({ status, reason = '' }) => `${status} ${reason}`.trim());
}

const SERVING: PoolReport = { serving: true };

describe('the conditions of a pool that agents should serve', () => {
  it.each<[what: string, facts: Facts, registered: string, ready: string]>([
    ['served', { report: SERVING }, 'True', 'True'],
    ['not configured yet, and no agent serves it', { isConfigured: false }, 'False Pending', 'False Pending'],
    ['no Deployment yet', { deployment: undefined }, 'False Pending', 'False Pending'],
    ['not configured yet, and its former group serves it', { isConfigured: false, ofHolder: SERVING }, 'False Pending', 'True'],
    [
      'a problem of the group',
      { problem: { reason: 'AgentRightsMissing', message: 'no Role' } },
      'False AgentRightsMissing',
      'False AgentRightsMissing',
    ],
    [
      'a problem of the group, while its agents serve',
      { problem: { reason: 'AgentRightsMissing', message: 'no Role' }, report: SERVING },
      'False AgentRightsMissing',
      'True',
    ],
    ['a report with a reason', { report: { serving: false, reason: 'SocketFailed' } }, 'True', 'False SocketFailed'],
    ['a report without a reason', { report: { serving: false } }, 'True', 'False NotServing'],
    ['a leader that does not know the pool yet', {}, 'True', 'False RollingOut'],
    ['no leader, and the Deployment is being rolled out', { isLive: false, deployment: ROLLING_OUT }, 'True', 'False RollingOut'],
    ['no leader', { isLive: false }, 'True', 'False NotLeading'],
    ['served by a leader that receives no changes', { report: SERVING, isLagging: true }, 'True', 'False Lagging'],
    [
      'a rollout that is stuck, while agents serve',
      { report: SERVING, deployment: withConditions(STUCK) },
      'True',
      'True RolloutStuck',
    ],
    ['a rollout that is stuck', { deployment: withConditions(STUCK) }, 'True', 'False RolloutStuck'],
    [
      'a rollout that is stuck because of a pod: the pod has the reason',
      { deployment: withConditions(STUCK), pods: [CRASHING] },
      'True',
      'False CrashLooping',
    ],
    [
      'pods that cannot be created: the older pods do not have the reason',
      { deployment: withConditions(REFUSED), pods: [CRASHING] },
      'True',
      'False FailedCreate',
    ],
  ])('%s', (_what, facts, registered, ready) => {
    expect(conditionsOf(facts)).toEqual([registered, ready]);
  });

  it.each<[report: PoolReport, message: string]>([
    [{ serving: false, reason: 'SocketFailed', message: 'EADDRINUSE' }, 'EADDRINUSE'],
    [{ serving: false, reason: 'Suspended' }, describeReason('Suspended')],
    [{ serving: false, message: 'Fancy: look up' }, 'Fancy: look up'],
    [{ serving: false }, describeReason('NotServing')],
  ])('the message of %j is its own, or that of the table where it has none', (report, message) => {
    const [, ready] = agentConditions(agents({ report }));
    expect(ready?.message).toBe(message);
  });

  it('a report of other DHCP servers is a condition of its own; no server, and no report, are not the same', () => {
    const of = (rogueServers: PoolReport['rogueServers']) =>
      agentConditions(agents({ report: { serving: true, ...(rogueServers && { rogueServers }) } })).filter(
        ({ type }) => type === 'RogueServer',
      );
    expect(of(undefined)).toEqual([]);
    expect(of([])).toEqual([{ type: 'RogueServer', status: 'False' }]);
    expect(of([{ address: '10.0.0.9', macAddress: '02:00:00:00:00:09' }])).toMatchObject([
      { status: 'True', reason: 'RogueServer', message: expect.stringContaining('10.0.0.9 (02:00:00:00:00:09)') },
    ]);
  });
});

describe('the conditions of a pool that no agent of ours should serve', () => {
  it('have the reason, both of them', () => {
    expect(conditionsWithoutAgents({ reason: 'NotServed', message: 'look there' })).toEqual([
      { type: 'Registered', status: 'False', reason: 'NotServed', message: 'look there' },
      { type: 'AgentReady', status: 'False', reason: 'NotServed', message: 'look there' },
    ]);
  });

  it.each([
    ['True', 'True'],
    ['False', 'False PodNotReady'],
  ])('follow the pod of an earlier version that is on hold: its condition Ready is %s', (ready, expected) => {
    const pod = { metadata: { name: 'net-48-agent' }, status: { conditions: [{ type: 'Ready', status: ready }] } };
    const [registered, agentReady] = conditionsOfKeptPod(pod);
    expect(registered).toEqual({ type: 'Registered', status: 'True' });
    expect(`${agentReady?.status} ${agentReady?.reason ?? ''}`.trim()).toBe(expected);
  });
});
