/** Problems of the agents of a pool, in the reports of their leader, and in the packets of a client. */
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { waitFor } from '../deadline.js';
import type { Situation } from './situation.js';
import { AGENTS, type Report, type WhyCluster } from './why-cluster.js';

const PREFIX = 'network.harvesterhci.io';
/** The group of the topology `unified`. */
const UNIFIED = 'vm-dhcp-agents';
/** A name of the maximum length: fewer than 200 pools with such names can be configured. */
const LONG_NAME = 'p'.repeat(249);
const MOST_POOLS = 200;

const groupOf = (clusterNetwork: string): string => `vm-dhcp-agent-${clusterNetwork}-1`;

/** A pool of a cluster network whose agents have trouble, and a virtual machine, both of this name. */
function ofAgents(name: string, reason: string, make: (cluster: WhyCluster) => Promise<void> = async () => undefined): Situation {
  return {
    ask: name,
    reasons: [reason],
    make: async (cluster) => {
      await cluster.addPool(name, { clusterNetwork: name });
      await cluster.machineOn(name, [name]);
      await make(cluster);
    },
  };
}

/** A virtual machine on pools of which the leader reports this. */
function reported(name: string, reports: Readonly<Record<string, Report>>): Situation {
  const pools = Object.keys(reports).map((reason) => `${name}-${reason.toLowerCase()}`);
  return {
    ask: name,
    reasons: Object.keys(reports),
    make: async (cluster) => {
      for (const [index, report] of Object.values(reports).entries()) {
        await cluster.addPool(pools[index] ?? '', report['routers'] === undefined ? {} : WITH_IPV6);
        cluster.report(pools[index] ?? '', report);
      }
      await cluster.machineOn(name, pools);
    },
  };
}

const because = (...reasons: readonly string[]): Record<string, Report> =>
  Object.fromEntries(reasons.map((reason) => [reason, { serving: false, reason, message: 'why' }]));

const ROGUE = { address: '10.1.0.66', macAddress: '02:00:00:00:99:97' };
const WITH_IPV6 = { spec: { ipv6Config: { cidr: 'fd00:48::/64' } } };
const ROUTER = { address: 'fe80::1', macAddress: '02:00:00:00:99:94', isDefaultRouter: true, isManaged: false };

/** In an order: from some of them on, requests of the controller fail. */
export const AGENT_SITUATIONS: readonly Situation[] = [
  // Its pods are new and not ready: the Deployment is being rolled out for as long.
  { ...ofAgents('idle', 'NotLeading'), beside: ['RollingOut'] },
  ofAgents('far', 'NotScheduled'),
  ofAgents('crash', 'CrashLooping'),
  ofAgents('rolling', 'RollingOut'),
  ofAgents('image', 'ImagePull', async (cluster) => {
    const { metadata, status } = await cluster.podOf('image');
    const waiting = { reason: 'ErrImagePull', message: 'pull access denied' };
    const containers = readField(status, 'containerStatuses') as readonly object[] | undefined;
    const [one = { name: 'agent', image: 'agent', imageID: '', ready: false, restartCount: 0 }] = containers ?? [];
    await cluster.patchStatus('Pod', `${AGENTS}/${metadata.name}`, { containerStatuses: [{ ...one, state: { waiting } }] });
  }),
  ofAgents('stuck', 'RolloutStuck', async (cluster) => {
    await cluster.podOf('stuck');
    const longAgo = '2026-01-01T00:00:00Z';
    const progressing = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: 'is progressing' };
    const condition = { ...progressing, lastUpdateTime: longAgo, lastTransitionTime: longAgo };
    await cluster.patchStatus('Deployment', `${AGENTS}/${groupOf('stuck')}`, { conditions: [condition] });
  }),
  {
    ask: 'conflict',
    reasons: ['AgentDeploymentConflict'],
    make: async (cluster) => {
      await addDeployment(cluster, groupOf('conflict'), {});
      await ofAgents('conflict', '').make?.(cluster);
    },
  },
  {
    ask: 'selector',
    isEarly: true,
    reasons: ['AgentSelectorMismatch'],
    make: async (cluster) => {
      const labels = { [`${PREFIX}/vm-dhcp-controller`]: 'agent', [`${PREFIX}/agent-group`]: groupOf('selector') };
      await addDeployment(cluster, groupOf('selector'), labels);
      await ofAgents('selector', '').make?.(cluster);
    },
  },
  {
    ask: 'rights',
    reasons: ['AgentRightsMissing'],
    make: async (cluster) => {
      const metadata = { namespace: 'default', name: groupOf('rights') };
      const rules: readonly object[] = [];
      await cluster.admin.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata,
        rules,
      } as KubernetesObject);
      await ofAgents('rights', '').make?.(cluster);
    },
  },
  {
    ask: 'elsewhere',
    reasons: ['AgentsElsewhere'],
    make: async (cluster) => {
      await cluster.addPool('elsewhere');
      const agentDeploymentRef = { namespace: 'elsewhere', name: 'agents' };
      await cluster.patchStatus('IPPool', 'default/elsewhere', { agentDeploymentRef });
      await cluster.machineOn('elsewhere', ['elsewhere']);
    },
  },
  {
    // A pod of an earlier version, of a pool whose agents shall stay as they are.
    ask: 'kept-pod',
    reasons: ['PodNotReady'],
    make: async (cluster) => {
      await cluster.addPool('kept-pod', { annotations: { [`${PREFIX}/hold-ippool-agent-upgrade`]: 'true' } });
      // The controller deletes such a pod of a pool that it does not know.
      await cluster.admin.waitForObject('IPPool', 'default/kept-pod', ({ status }) => readConditions(status).length > 0);
      const labels = {
        [`${PREFIX}/vm-dhcp-controller`]: 'agent',
        [`${PREFIX}/ippool-namespace`]: 'default',
        [`${PREFIX}/ippool-name`]: 'kept-pod',
      };
      const metadata = { namespace: AGENTS, name: 'default-kept-pod-agent', labels };
      const spec = { nodeName: 'rolling', containers: [{ name: 'agent', image: 'agent:v0' }] };
      await cluster.admin.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubernetesObject);
      await cluster.machineOn('kept-pod', ['kept-pod']);
    },
  },
  {
    ask: 'large',
    reasons: ['AgentConfigTooLarge'],
    make: async (cluster) => {
      const names = Array.from({ length: MOST_POOLS }, (_, index) => `${LONG_NAME}-${String(index).padStart(3, '0')}`);
      const add = async (name: string, index: number): Promise<void> => {
        await cluster.addNetwork(`large-${index}`, 'large');
        const cidr = { cidr: `172.16.${index}.0/24`, serverIP: `172.16.${index}.2` };
        const pool = { start: `172.16.${index}.10`, end: `172.16.${index}.99` };
        await cluster.addPoolOnly(`default/${name}`, { network: `default/large-${index}`, ipv4Config: { ...cidr, pool } });
      };
      await Promise.all(names.map(add));
      // Which one is left out depends on the second in which it was made.
      const network = await waitFor(
        'a pool that is left out',
        async () => {
          const pools = await cluster.admin.list('IPPool');
          const leftOut = pools.find(({ status }) => readConditions(status).some((one) => one.reason === 'AgentConfigTooLarge'));
          return readText(leftOut?.spec, 'networkName');
        },
        30_000,
      );
      await cluster.machineOn('large', [network]);
    },
  },
  reported('reported-a', because('Draining', 'Opening', 'NotListed', 'PoolMissing')),
  reported('reported-b', because('DryRun', 'InterfaceNotIsolated', 'AddressFailed', 'SocketFailed')),
  reported('reported-c', because('Suspended', 'ServerAddressRefused', 'InterfaceMissing')),
  reported('reported-d', { NotServing: { serving: false }, RogueServer: { serving: true, rogueServers: [ROGUE] } }),
  reported('reported-e', {
    NoRouter: { serving: true, routers: [] },
    RouterSaysNoManaged: { serving: true, routers: [ROUTER] },
  }),
  {
    ask: 'routing',
    reasons: ['RogueRouter'],
    make: async (cluster) => {
      await cluster.addPool('routing', WITH_IPV6);
      const [macAddress = ''] = await cluster.machineOn('routing', ['routing']);
      await cluster.hasAddresses('routing');
      cluster.report('routing', { serving: true, routers: [{ ...ROUTER, macAddress }] });
    },
  },
  {
    ask: 'declined',
    reasons: ['DuplicateAddressDetected'],
    make: async (cluster) => {
      await cluster.addPool('declined', WITH_IPV6);
      const [macAddress = ''] = await cluster.machineOn('declined', ['declined']);
      cluster.report('declined', { serving: true, declinedIpv6: [{ address: 'fd00:48::a', macAddress }] });
    },
  },
  {
    ask: 'conflicting',
    reasons: ['AddressConflict'],
    make: async (cluster) => {
      const start = await cluster.addPool('conflicting');
      const [macAddress = ''] = await cluster.machineOn('conflicting', ['conflicting']);
      await cluster.hasAddresses('conflicting');
      const conflicts = [{ address: `${start}.0.10`, macAddress, usedBy: '02:00:00:00:99:96' }];
      cluster.report('conflicting', { serving: true, conflicts });
    },
  },
  {
    ask: 'shadowed',
    reasons: ['UnassignedAddressUsed'],
    make: async (cluster) => {
      const start = await cluster.addPool('shadowed');
      const [assignedTo = ''] = await cluster.machineOn('shadowed', ['shadowed']);
      await cluster.hasAddresses('shadowed');
      const observedUses = [{ address: `${start}.0.10`, usedBy: '02:00:00:00:99:95', assignedTo }];
      cluster.report('shadowed', { serving: true, observedUses });
    },
  },
  {
    ask: 'packets-a',
    reasons: ['NoPacketFromClient', 'OfferNotAccepted', 'OtherServerSelected', 'PacketNotAnswered'],
    // The guest operating system does not report whether it has an address.
    notes: ['NoPacketFromClient'],
    make: async (cluster) => {
      await cluster.addPool('served');
      cluster.report('served', { serving: true });
      const [, offered = '', elsewhere = '', silent = ''] = await cluster.machineOn('packets-a', Array<string>(4).fill('served'));
      cluster.saw(offered, [
        ['DISCOVER', 'OFFER 10.20.0.11'],
        ['DISCOVER', 'OFFER 10.20.0.11'],
      ]);
      cluster.saw(elsewhere, [['REQUEST', null, 'other-server-selected']]);
      cluster.saw(silent, [['DISCOVER', null, 'lease-not-recorded']]);
      await cluster.run('packets-a', {});
    },
  },
  {
    ask: 'packets-b',
    reasons: ['RequestRefused', 'ClientDeclinedAddress', 'AcknowledgedNotUsed', 'InstanceHasNoAddress'],
    make: async (cluster) => {
      const [refused = '', declined = '', unused = ''] = await cluster.machineOn('packets-b', Array<string>(3).fill('served'));
      cluster.saw(refused, [['REQUEST', 'NAK', 'wrong-address']]);
      cluster.saw(declined, [['DECLINE', null]]);
      cluster.saw(unused, [['REQUEST', 'ACK 10.20.0.16']]);
      await cluster.run('packets-b', { infoSource: 'domain, guest-agent' });
    },
  },
  {
    // From here on no Deployment can be created.
    ask: 'pending',
    reasons: ['Pending'],
    make: async (cluster) => {
      await cluster.addPool('nosa', { clusterNetwork: 'nosa' });
      for (const name of ['mgmt', 'idle', 'far', 'crash', 'rolling', 'large', 'nosa'])
        await cluster.admin.waitForObject('Deployment', `${AGENTS}/${groupOf(name)}`, () => true);
      refuse(cluster, 'deployments');
      await ofAgents('pending', '').make?.(cluster);
      await cluster.admin.waitForObject('ServiceAccount', `${AGENTS}/${groupOf('pending')}`, () => true);
    },
  },
  {
    // From here on no ServiceAccount can be created.
    ask: 'nosa',
    reasons: ['FailedCreate'],
    make: async (cluster) => {
      await cluster.machineOn('nosa', ['nosa']);
      const { metadata } = await cluster.podOf('nosa');
      refuse(cluster, 'serviceaccounts');
      await cluster.admin.delete('ServiceAccount', `${AGENTS}/${groupOf('nosa')}`);
      await cluster.admin.delete('Pod', `${AGENTS}/${metadata.name}`);
    },
  },
  {
    // The leader goes by a version of the pool that is not the newest, for ten seconds.
    ask: 'lagging',
    reasons: ['Lagging'],
    make: async (cluster) => {
      await cluster.addPool('lagging');
      cluster.report('lagging', { serving: true, version: '1' });
      await cluster.machineOn('lagging', ['lagging']);
    },
  },
];

/** With the topology `unified`: one after the other, of one pool. */
export const UNIFIED_SITUATIONS: readonly Situation[] = [
  {
    ask: 'silent',
    reasons: ['NetworkSilent'],
    beside: ['AgentDeploymentMissing'],
    make: async (cluster) => {
      await cluster.addPool('silent');
      await cluster.machineOn('silent', ['silent']);
      await cluster.hasAddresses('silent');
      await cluster.run('silent', {});
      cluster.report('silent', { serving: true, silentMinutes: 2 });
      await cluster.lead(UNIFIED);
    },
  },
  ofAgents('idle', 'AgentDeploymentMissing'),
  {
    ask: 'idle',
    reasons: ['AgentContainerMissing'],
    make: (cluster) => addDeployment(cluster, 'vm-dhcp-controller-agent', {}),
  },
];

/** No request to create this succeeds in the namespace of the agents from now on. */
function refuse({ cluster: { simulator } }: WhyCluster, resource: string): void {
  simulator.faults.inject({
    requests: { verb: 'create', resource, namespace: AGENTS },
    effect: { kind: 'answer', status: 500 },
    times: 0,
  });
}

async function addDeployment(cluster: WhyCluster, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const matchLabels = { app: name };
  const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'other', image: 'other' }] } };
  const spec = { replicas: 0, selector: { matchLabels }, template };
  await cluster.admin.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: AGENTS, name, labels }, spec });
}
