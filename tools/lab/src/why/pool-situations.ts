/** Problems of a pool, or of one of its addresses. */
import { LEAVING_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import { ipPool, networkAttachment } from '../network-and-pool.js';
import { serviceAccountToken } from '../service-account-token.js';
import { virtualMachineWith } from '../virtual-machine.js';
import type { Situation } from './situation.js';
import type { PoolSettings, WhyCluster } from './why-cluster.js';

const STATIC = 'static-ip.harvesterhci.io/nic0';
const TENANT = 'tenant';
/** This many quarantines leave no room in the object for a client. */
const QUARANTINES = 19_900;

/** A pool, and a virtual machine of the same name on its network. */
async function poolAndMachine(cluster: WhyCluster, name: string, settings: PoolSettings = {}): Promise<string> {
  const start = await cluster.addPool(name, settings);
  await cluster.machineOn(name, [name]);
  return start;
}

const pinned = (name: string, address: string, reason: string): Situation => ({
  ask: name,
  reasons: [reason],
  make: async (cluster) => void (await cluster.machineOn(name, ['net'], { [STATIC]: address })),
});

export const POOL_SITUATIONS: readonly Situation[] = [
  {
    ask: 'noted',
    reasons: ['OverlapsServiceCidr', 'OverlapsPodCidr', 'IsApiServer', 'ExclusionsNotListed'],
    make: async (cluster) => void (await cluster.machineOn('noted', ['service', 'pod', 'api', 'excluding'])),
  },
  {
    ask: 'unserved',
    reasons: ['NoPool'],
    make: async (cluster) => {
      await cluster.addNetwork('unserved');
      await cluster.machineOn('unserved', ['unserved']);
    },
  },
  {
    ask: 'no-network',
    reasons: ['NetworkMissing'],
    make: async (cluster) => {
      await cluster.addPoolOnly('default/no-network');
      await cluster.machineOn('no-network', ['no-network']);
    },
  },
  {
    ask: 'paused-pool',
    reasons: ['PoolPaused', 'Paused'],
    make: async (cluster) => void (await poolAndMachine(cluster, 'paused-pool', { spec: { paused: true } })),
  },
  {
    // A person wrote another MAC address, and the pool cannot be written: the address of the first one stays recorded.
    ask: 'changed',
    reasons: ['NetworkConfigChanged'],
    make: async (cluster) => {
      await cluster.addPool('changed');
      const entry = (macAddress: string) => [{ networkName: 'default/changed', macAddress }];
      await cluster.configWith('changed', entry(cluster.macAddress()));
      await cluster.hasAddresses('changed');
      cluster.cluster.simulator.faults.inject({
        requests: { verb: 'patch', resource: 'ippools', subresource: 'status', namespace: 'default', name: 'changed' },
        effect: { kind: 'answer', status: 500 },
        times: 0,
      });
      await cluster.admin.patch('VirtualMachineNetworkConfig', 'default/changed', {
        spec: { networkConfigs: entry(cluster.macAddress()) },
      });
    },
  },
  {
    ask: 'invalid',
    reasons: ['PoolInvalid'],
    make: async (cluster) => {
      const pool = { start: '10.15.0.10', end: '10.15.9.0', exclude: ['10.99.0.1'] };
      await poolAndMachine(cluster, 'invalid', { ipv4Config: { cidr: '10.15.0.0/16', serverIP: '10.15.0.2', pool } });
    },
  },
  {
    // The network of the tenant allows pools of `default`, and an older one of these serves it; the tenant sees its own one alone.
    ask: `${TENANT}/taken`,
    reasons: ['NetworkTaken'],
    make: async (cluster) => {
      const network = networkAttachment(`${TENANT}/taken`);
      const annotations = { 'network.harvesterhci.io/allowed-pool-namespaces': 'default' };
      await cluster.admin.create({ ...network, metadata: { ...network.metadata, annotations } });
      await cluster.addPoolOnly('default/older', { network: `${TENANT}/taken` });
      await cluster.addPoolOnly(`${TENANT}/taken`);
      const one = { name: 'nic0', macAddress: cluster.macAddress(), network: `${TENANT}/taken` };
      await cluster.admin.create(virtualMachineWith(`${TENANT}/taken`, [one]));
    },
    kubeconfig: tenant,
  },
  {
    ask: 'not-allowed',
    reasons: ['NetworkNotAllowed'],
    make: async (cluster) => {
      await cluster.admin.create(networkAttachment(`${TENANT}/theirs`));
      await cluster.addPoolOnly('default/not-allowed', { network: `${TENANT}/theirs` });
      await cluster.machineOn('not-allowed', [`${TENANT}/theirs`]);
    },
  },
  ...[
    { ask: 'of-ovn', reasons: ['NetworkNotServed'], config: { type: 'ovn-k8s-cni-overlay', subnets: '10.9.0.0/24' } },
    { ask: 'with-ipam', reasons: ['ServedTwice'], config: { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }] } },
    { ask: 'of-kube-ovn', reasons: ['MayBeServedTwice'], config: { type: 'kube-ovn' } },
  ].map(
    ({ ask, reasons, config }): Situation => ({
      ask,
      reasons,
      make: async (cluster) => {
        await cluster.addNetwork(ask, 'mgmt', JSON.stringify(config));
        await cluster.addPoolOnly(`default/${ask}`);
        // Only then does the controller know the network surely: a machine that it sees earlier would keep its address.
        await cluster.admin.waitForObject('IPPool', `default/${ask}`, ({ status }) =>
          readConditions(status).some(({ type, status: state }) => type === 'CacheReady' && state === 'True'),
        );
        await cluster.machineOn(ask, [ask]);
      },
    }),
  ),
  {
    ask: 'shared',
    reasons: ['SegmentShared'],
    make: async (cluster) => {
      const bridge = JSON.stringify({ type: 'bridge', bridge: 'mgmt-br', vlan: 48 });
      for (const name of ['shared', 'twin']) {
        await cluster.addNetwork(name, 'mgmt', bridge);
        await cluster.admin.create(ipPool(`default/${name}`));
      }
      await cluster.machineOn('shared', ['shared']);
    },
  },
  {
    // A reservation outside the range is removed while its client has the address.
    ask: 'outside-range',
    reasons: ['AddressOutsideRange'],
    make: async (cluster) => {
      const macAddress = cluster.macAddress();
      const ipAddress = '10.14.200.1';
      const reservations = [{ macAddress, ipAddress }];
      const pool = { start: '10.14.0.10', end: '10.14.0.20' };
      await cluster.addPool('outside-range', {
        ipv4Config: { cidr: '10.14.0.0/16', serverIP: '10.14.0.2', pool, reservations },
      });
      await cluster.machineWith('outside-range', [{ name: 'nic0', macAddress, network: 'default/outside-range' }]);
      await cluster.hasAddresses('outside-range');
      await cluster.admin.patch('IPPool', 'default/outside-range', { spec: { ipv4Config: { reservations: null } } });
    },
  },
  {
    ask: 'excluded',
    reasons: ['ExcludedAddressInUse'],
    make: async (cluster) => {
      const start = await poolAndMachine(cluster, 'excluded');
      await cluster.hasAddresses('excluded');
      const exclude = [`${start}.0.10`];
      await cluster.admin.patch('IPPool', 'default/excluded', { spec: { ipv4Config: { pool: { exclude } } } });
    },
  },
  {
    ask: 'skipped',
    reasons: ['EntriesSkipped'],
    make: async (cluster) => {
      const start = await poolAndMachine(cluster, 'skipped');
      await cluster.hasAddresses('skipped');
      const allocated = { [`${start}.0.11`]: 'nonsense' };
      await cluster.patchStatus('IPPool', 'default/skipped', { ipv4: { allocated } });
    },
  },
  {
    ask: 'exhausted',
    reasons: ['PoolExhausted'],
    make: async (cluster) => {
      const pool = { start: '10.13.0.10', end: '10.13.0.10' };
      await cluster.addPool('exhausted', { ipv4Config: { cidr: '10.13.0.0/16', serverIP: '10.13.0.2', pool } });
      await cluster.machineOn('only', ['exhausted']);
      await cluster.hasAddresses('only');
      await cluster.machineOn('exhausted', ['exhausted']);
    },
  },
  {
    ask: 'full',
    reasons: ['PoolRecordFull'],
    make: async (cluster) => {
      const pool = { start: '172.20.0.10', end: '172.21.255.0' };
      await cluster.addPool('full', { ipv4Config: { cidr: '172.20.0.0/15', serverIP: '172.20.0.2', pool } });
      const entry = { until: '2099-01-01T00:00:00Z', usedBy: '02:00:00:00:99:99' };
      const quarantined = Object.fromEntries(
        Array.from({ length: QUARANTINES }, (_, index) => [`172.20.${100 + (index >> 8)}.${index & 255}`, entry]),
      );
      await cluster.patchStatus('IPPool', 'default/full', { ipv4: { quarantined, used: 0, available: 0 } });
      await cluster.machineOn('full', ['full']);
    },
  },
  {
    ask: 'taken',
    reasons: ['AddressTaken'],
    make: async (cluster) => {
      await cluster.machineOn('owner', ['net'], { [STATIC]: '10.1.0.40' });
      await cluster.hasAddresses('owner');
      await cluster.machineOn('taken', ['net'], { [STATIC]: '10.1.0.40' });
    },
  },
  pinned('outside', '10.1.0.200', 'AddressOutsidePool'),
  pinned('reserved', '10.1.0.61', 'AddressReserved'),
  {
    ask: 'unavailable',
    reasons: ['AddressUnavailable', 'OtherInterfaceRefused'],
    make: async (cluster) => void (await cluster.machineOn('unavailable', ['excluding', 'net'], { [STATIC]: '10.8.2.0' })),
  },
  pinned('quarantined', '10.1.0.60', 'AddressQuarantined'),
  {
    // The pool was recorded with addresses of another subnet.
    ask: 'moved',
    reasons: ['InstanceHasAnotherAddress', 'AddressChanged'],
    beside: ['NoPacketFromClient'],
    make: async (cluster) => {
      const start = await cluster.addPool('moved');
      cluster.report('moved', { serving: true });
      const [macAddress = ''] = await cluster.machineOn('moved', ['moved']);
      await cluster.hasAddresses('moved');
      const allocated = { [`${start}.0.10`]: null, '10.98.0.10': macAddress };
      await cluster.patchStatus('IPPool', 'default/moved', { ipv4: { allocated } });
      await cluster.run('moved', { ipAddress: '10.98.0.10', infoSource: 'domain, guest-agent' });
    },
  },
  {
    // The controller may not read instances here, so it keeps what is written.
    ask: 'migrating',
    reasons: ['AwaitingMigration'],
    beside: ['NoPacketFromClient'],
    make: async (cluster) => {
      await cluster.addPool('migrating');
      cluster.report('migrating', { serving: true });
      const [macAddress = ''] = await cluster.machineOn('migrating', ['migrating']);
      await cluster.hasAddresses('migrating');
      await cluster.run('migrating', { ipAddress: '10.98.0.10', infoSource: 'domain, guest-agent' });
      const entries = ['default/migrating', 'default/former'].map((networkName) => ({ networkName, macAddress }));
      const left = { [`default/former ${macAddress}`]: { since: '2026-01-01T00:00:00Z', instance: 'migrating' } };
      const annotations = { [LEAVING_ANNOTATION]: JSON.stringify(left) };
      const patch = { metadata: { annotations }, spec: { networkConfigs: entries } };
      await cluster.admin.patch('VirtualMachineNetworkConfig', 'default/migrating', patch);
    },
  },
  { ask: '10.1.0.98', reasons: ['AddressFree'] },
  { ask: '10.1.0.5', reasons: ['ClientUnknown'] },
];

/** Pools that several situations have. */
export async function addCommonPools(cluster: WhyCluster): Promise<void> {
  await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: TENANT } });
  const quarantined = { '10.1.0.60': { until: '2099-01-01T00:00:00Z', usedBy: '02:00:00:00:99:99' } };
  const reservations = [{ macAddress: '02:00:00:00:99:98', ipAddress: '10.1.0.61' }];
  const own = { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.99' } };
  await cluster.addPool('net', { ipv4Config: { ...own, reservations } });
  await cluster.patchStatus('IPPool', 'default/net', { ipv4: { quarantined, used: 0, available: 0 } });
  const subnet = (start: string, more: object = {}) => ({
    ipv4Config: {
      cidr: `${start}.0.0/16`,
      serverIP: `${start}.0.2`,
      pool: { start: `${start}.0.10`, end: `${start}.9.0`, ...more },
    },
  });
  await cluster.addPool('service', subnet('10.96'));
  await cluster.addPool('pod', subnet('10.244'));
  await cluster.addPool('api', subnet('10.7'));
  await cluster.addPool('excluding', subnet('10.8', { exclude: ['10.8.1.0-10.8.4.0'] }));
}

/** A user who may read virtual machines, their VirtualMachineNetworkConfigs and IPPools of one namespace. */
async function tenant({ cluster }: WhyCluster): Promise<string> {
  const metadata = { namespace: TENANT, name: TENANT };
  await cluster.admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const resources = ['virtualmachines', 'virtualmachineinstances', 'virtualmachinenetworkconfigs', 'ippools'];
  const group = 'rbac.authorization.k8s.io';
  const rules = [{ apiGroups: ['*'], resources, verbs: ['get', 'list'] }];
  await cluster.admin.create({ apiVersion: `${group}/v1`, kind: 'Role', metadata, rules } as KubernetesObject);
  const roleRef = { apiGroup: group, kind: 'Role', name: TENANT };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  await cluster.admin.create({ apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects } as KubernetesObject);
  return cluster.writeKubeconfig(TENANT, await serviceAccountToken(cluster.admin, TENANT, TENANT));
}
