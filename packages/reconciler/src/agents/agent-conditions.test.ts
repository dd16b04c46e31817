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
  readonly pool?: typeof POOL;
  readonly deployment?: KubernetesObject | undefined;
  readonly isConfigured?: boolean;
  readonly isLive?: boolean;
  readonly report?: PoolReport;
  readonly ofHolder?: PoolReport;
  readonly pods?: readonly KubernetesObject[];
  readonly isLagging?: boolean;
  readonly hasRunningMachines?: boolean;
  readonly problem?: AgentsOfPool['problem'];
}

function withConditions(conditions: readonly unknown[]): KubernetesObject {
  return { ...ROLLED_OUT, status: { ...(ROLLED_OUT.status as object), conditions } };
}

function named(name: string): KubernetesObject {
  return { ...ROLLED_OUT, metadata: { ...ROLLED_OUT.metadata, name } };
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
  const { pool = POOL, report, ofHolder, pods = [], isLagging = false, problem } = facts;
  const formerGroup = ofHolder === undefined ? undefined : group(ofHolder, facts);
  const hasRunningMachines = () => facts.hasRunningMachines === true;
  const routers = { addresses: undefined, areSilent: false, isMachine: () => false };
  const observed = group(report, facts);
  return { pool, group: 'agents', observed, formerGroup, problem, pods, isLagging, hasRunningMachines, routers };
}

/** `Registered` and `AgentReady`, as status and reason. */
function conditionsOf(facts: Facts): string[] {
  return agentConditions(agents(facts))
    .filter(({ type }) => type !== 'RogueServer')
    .map(({ status, reason = '' }) => `${status} ${reason}`.trim());
}

const SERVING: PoolReport = { serving: true };
const SILENT: PoolReport = { serving: true, silentMinutes: 2 };

describe('the conditions of a pool that agents should serve', () => {
  it.each<[what: string, facts: Facts, registered: string, ready: string]>([
    ['served', { report: SERVING }, 'True', 'True'],
    ['silent, and machines run', { report: SILENT, hasRunningMachines: true }, 'True', 'False NetworkSilent'],
    ['silent, and no machine runs', { report: SILENT }, 'True', 'True'],
    ['heard, and machines run', { report: SERVING, hasRunningMachines: true }, 'True', 'True'],
    [
      'served by its former group, which hears nothing',
      { ofHolder: SILENT, hasRunningMachines: true },
      'True',
      'False NetworkSilent',
    ],
    ['not configured yet, and no agent serves it', { isConfigured: false }, 'False Pending', 'False Pending'],
    ['no Deployment yet', { deployment: undefined }, 'False Pending', 'False Pending'],
    [
      'configured with another network: the Deployment is about to change',
      { pool: { ...POOL, network: 'default/vlan-49' } },
      'False Pending',
      'False Pending',
    ],
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
    [
      'a report of a leader that receives no changes: the report has the reason',
      { report: { serving: false }, isLagging: true },
      'True',
      'False NotServing',
    ],
    [
      'a report, while its former group does not serve it either',
      { report: { serving: false, reason: 'SocketFailed' }, ofHolder: { serving: false } },
      'True',
      'False SocketFailed',
    ],
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
  ])('%j has its own message, or that of the table if it has none', (report, message) => {
    const [, ready] = agentConditions(agents({ report }));
    expect(ready?.message).toBe(message);
  });

  it.each<[what: string, facts: Facts, type: string, message: string]>([
    [
      'no Deployment yet: it has the name of the group',
      { deployment: undefined },
      'Registered',
      'Deployment agents is about to be configured with the pool; wait',
    ],
    [
      'not configured yet: the Deployment may have another name',
      { isConfigured: false, deployment: named('chart') },
      'Registered',
      'Deployment chart is about to be configured with the pool; wait',
    ],
    [
      'a leader that receives no changes',
      { report: SERVING, isLagging: true },
      'AgentReady',
      'the leader of the agents (agents-1) receives no changes of the pool; look at its log and its connection to the API server',
    ],
    [
      'a leader that does not know the pool',
      {},
      'AgentReady',
      'the leader of the agents (agents-1) does not know the pool yet; wait for its successor, which is being rolled out',
    ],
    [
      'no leader',
      { isLive: false, deployment: named('chart') },
      'AgentReady',
      'no agent is leader: the Lease agents is not renewed; look at the pods of Deployment vm-dhcp-agents/chart',
    ],
    [
      'no leader of a new Deployment',
      { isLive: false, deployment: ROLLING_OUT },
      'AgentReady',
      'Deployment vm-dhcp-agents/agents is being rolled out, and no agent is leader yet; wait',
    ],
    [
      'pods that cannot be created, while agents serve',
      { report: SERVING, deployment: withConditions(REFUSED) },
      'AgentReady',
      'served by the agents that are there; pods of Deployment vm-dhcp-agents/agents cannot be created: exceeded quota: small; raise ResourceQuota small of namespace vm-dhcp-agents, or request less (--agent-replicas, --agent-memory-limit)',
    ],
  ])('the message says where to look: %s', (_what, facts, type, message) => {
    expect(agentConditions(agents(facts)).find((condition) => condition.type === type)?.message).toBe(message);
  });

  it('a report of other DHCP servers is a separate condition; an empty report differs from none', () => {
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

describe('pods that keep the agents from being ready', () => {
  const pod = (status: object, name = 'agents-1'): KubernetesObject => ({ metadata: { name }, status });
  const waiting = (...states: readonly object[]) =>
    pod({ containerStatuses: states.map((state) => ({ state: { waiting: state } })) });
  const unscheduled = (message?: string) =>
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', ...(message && { message }) }] });
  const readyWith = (pods: readonly KubernetesObject[], deployment = ROLLED_OUT) =>
    agentConditions(agents({ pods, deployment }))[1];

  it.each<readonly [what: string, pod: KubernetesObject, reason: string, message: string]>([
    [
      'without a node',
      unscheduled('0/3 nodes are available'),
      'NotScheduled',
      'no node takes pod agents-1: 0/3 nodes are available',
    ],
    [
      'without a node that has a bridge',
      unscheduled(
        '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient bridge.network.kubevirt.io/br1. preemption: none',
      ),
      'NotScheduled',
      'no node takes pod agents-1: 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient bridge.network.kubevirt.io/br1. preemption: none; agents run on nodes that have bridge.network.kubevirt.io/br1, as the network asks (k8s.v1.cni.cncf.io/resourceName): create the bridge br1 on a node, and bridge-marker adds the resource, or correct the annotation of the NetworkAttachmentDefinition',
    ],
    ['without a node, and without a message', unscheduled(), 'NotScheduled', 'no node takes pod agents-1: '],
    ...['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'RegistryUnavailable'].map(
      (reason) =>
        [
          reason,
          waiting({ reason }),
          'ImagePull',
          `pod agents-1: ${reason}; correct the image (--image) or its pull Secret`,
        ] as const,
    ),
    [
      'with a message of the kubelet',
      waiting({ reason: 'ErrImagePull', message: 'no such host' }),
      'ImagePull',
      'pod agents-1: no such host; correct the image (--image) or its pull Secret',
    ],
    ['that crash', CRASHING, 'CrashLooping', 'pod agents-1: CrashLoopBackOff; look at its log (kubectl logs --previous)'],
    [
      'with several containers',
      waiting({ reason: 'ContainerCreating' }, { reason: 'CrashLoopBackOff' }),
      'CrashLooping',
      'pod agents-1: CrashLoopBackOff; look at its log (kubectl logs --previous)',
    ],
  ])('%s: the condition names the pod and the remedy', (_, one, reason, message) => {
    expect(readyWith([one])).toEqual({ type: 'AgentReady', status: 'False', reason, message });
  });

  it.each([
    ['that are being created', waiting({ reason: 'ContainerCreating' })],
    ['that have a node', pod({ conditions: [{ type: 'PodScheduled', status: 'True' }] })],
    ['with other conditions', pod({ conditions: [{ type: 'Ready', status: 'False' }] })],
    ['that run', pod({ containerStatuses: [{ state: { running: {} } }] })],
    ['without a status', { metadata: { name: 'agents-1' } }],
  ])('pods %s are fine', (_, one) => {
    expect(readyWith([one])?.reason).toBe('RollingOut');
    expect(readyWith([one, CRASHING])?.reason, 'another pod has').toBe('CrashLooping');
  });

  it('the first pod with trouble decides', () => {
    expect(readyWith([unscheduled(), CRASHING])?.reason).toBe('NotScheduled');
    expect(readyWith([CRASHING, unscheduled()])?.reason).toBe('CrashLooping');
  });

  it.each([
    ["0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector", true],
    ['0/3 nodes are available: 3 Node(s) did not match the node selector', true],
    ['0/3 nodes are available: 3 Insufficient memory', false],
  ])('the required labels of nodes are appended if they are missing: %s', (reported, isNamed) => {
    const matchExpressions = [
      { key: 'network.harvesterhci.io/vlan', operator: 'In', values: ['true'] },
      { key: 'gpu', operator: 'Exists' },
      { operator: 'In', values: ['true'] },
    ];
    const required = { nodeSelectorTerms: [{ matchExpressions }, {}] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const deployment = { ...ROLLED_OUT, spec: { replicas: 1, template: { spec: { affinity } } } };
    const remedy =
      '; agents run on nodes with the label network.harvesterhci.io/vlan=true: kubectl label node NODE network.harvesterhci.io/vlan=true';
    expect(readyWith([unscheduled(reported)], deployment)?.message).toBe(
      `no node takes pod agents-1: ${reported}${isNamed ? remedy : ''}`,
    );
    expect(readyWith([unscheduled(reported)])?.message, 'no labels are required').toBe(`no node takes pod agents-1: ${reported}`);
  });

  it('a long message leaves room for the remedy', () => {
    const message = 'x'.repeat(10_000);
    const { message: shown = '' } = readyWith([waiting({ reason: 'ErrImagePull', message })]) ?? {};
    expect(shown.length).toBeLessThan(700);
    expect(shown).toMatch(/correct the image \(--image\) or its pull Secret$/);
    expect(readyWith([unscheduled(message)])?.message?.length).toBeLessThan(700);
  });
});

describe('the conditions of a pool that no agent of ours should serve', () => {
  it('both have the reason', () => {
    expect(conditionsWithoutAgents({ reason: 'NotServed', message: 'look there' })).toEqual([
      { type: 'Registered', status: 'False', reason: 'NotServed', message: 'look there' },
      { type: 'AgentReady', status: 'False', reason: 'NotServed', message: 'look there' },
    ]);
  });

  it.each([
    ['Ready', 'True', 'True'],
    ['Ready', 'False', 'False PodNotReady'],
    ['Initialized', 'True', 'False PodNotReady'],
  ])('follow the pod of an earlier version that is on hold: its condition %s is %s', (type, status, expected) => {
    const conditions = [
      { type: 'ContainersReady', status: 'False' },
      { type, status },
    ];
    const pod = { metadata: { name: 'net-48-agent' }, status: { conditions } };
    const [registered, agentReady] = conditionsOfKeptPod(pod);
    expect(registered).toEqual({ type: 'Registered', status: 'True' });
    expect(`${agentReady?.status} ${agentReady?.reason ?? ''}`.trim()).toBe(expected);
  });
});
