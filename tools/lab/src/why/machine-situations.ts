/** Problems of a virtual machine, its interfaces and its VirtualMachineNetworkConfig. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { waitFor } from '../deadline.js';
import { CONTROLLER_NAMESPACE } from '../installed-objects.js';
import { networkAttachment } from '../network-and-pool.js';
import { virtualMachineWith } from '../virtual-machine.js';
import type { Situation } from './situation.js';
import type { WhyCluster } from './why-cluster.js';

const PREFIX = 'network.harvesterhci.io';
const STATIC = 'static-ip.harvesterhci.io';
/** An entry that a person wrote. */
const ENTRY = { networkName: 'default/net', macAddress: '02:00:00:00:98:01' };
const LONG = 'n'.repeat(70);
const CONTROLLER = 'vm-dhcp-controller';

async function machine(cluster: WhyCluster, name: string, spec: object): Promise<void> {
  const metadata = { namespace: 'default', name };
  await cluster.admin.create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec } as KubernetesObject);
}

const oneOn = (cluster: WhyCluster, macAddress = cluster.macAddress()) => ({ name: 'a', macAddress, network: 'default/net' });

export const MACHINE_SITUATIONS: readonly Situation[] = [
  { ask: 'nothing', reasons: ['VirtualMachineUnknown'] },
  {
    ask: 'stopped',
    reasons: ['VirtualMachineStopped', 'NoInterfaceOnNetwork'],
    make: async (cluster) => {
      const template = { spec: { domain: { devices: { interfaces: [{ name: 'a' }] } }, networks: [{ name: 'a', pod: {} }] } };
      await machine(cluster, 'stopped', { runStrategy: 'Halted', template });
    },
  },
  {
    ask: 'unlinked',
    reasons: ['LinkOff'],
    make: async (cluster) => {
      await cluster.machineWith('unlinked', [{ ...oneOn(cluster), state: 'down' }]);
      await cluster.hasAddresses('unlinked');
      await cluster.run('unlinked', { infoSource: 'domain' });
    },
  },
  { ask: 'bare', reasons: ['TemplateMissing'], make: (cluster) => machine(cluster, 'bare', { running: true }) },
  {
    ask: 'orphaned',
    reasons: ['VirtualMachineMissing'],
    make: async (cluster) => {
      await cluster.machineOn('orphaned', ['net']);
      await cluster.hasAddresses('orphaned');
      const path = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/orphaned';
      await cluster.admin.connection.request({ method: 'DELETE', path, body: { propagationPolicy: 'Orphan' } });
    },
  },
  {
    ask: 'annotated',
    reasons: ['OptOutWithoutInterface', 'StaticAddressWithoutInterface', 'StaticAddressUnreadable'],
    make: async (cluster) => {
      await cluster.machineOn('annotated', ['net'], {
        [`${PREFIX}/dhcp-opt-out`]: 'nic9',
        [`${STATIC}/nic8`]: '10.1.0.50',
        [`${STATIC}/nic0`]: 'ten',
      });
    },
  },
  {
    ask: 'imported',
    reasons: ['PinnedAddressesUnreadable', 'PinnedAddressesSurplus'],
    make: async (cluster) => {
      await cluster.machineOn('imported', ['net', 'net'], {
        'network.kubevirt.io/addresses': '{"nic0":["10.1.0.51","10.1.0.52"],"nic1":["ten"]}',
      });
    },
  },
  {
    ask: 'mac-annotation',
    reasons: ['MacAddressAnnotationUnreadable'],
    make: (cluster) => cluster.machineWith('mac-annotation', [oneOn(cluster, '')], { 'harvesterhci.io/mac-address': '{' }),
  },
  { ask: 'awaiting', reasons: ['AwaitingMacAddress'], make: (cluster) => cluster.machineWith('awaiting', [oneOn(cluster, '')]) },
  {
    // The controller may not read VirtualMachineInstances: one may run with the interface as it was.
    ask: 'unreadable-instance',
    reasons: ['VirtualMachineInstancesUnreadable'],
    make: async (cluster) => {
      await cluster.machineOn('unreadable-instance', ['net']);
      await cluster.hasAddresses('unreadable-instance');
      await changeInterface(cluster, 'unreadable-instance');
    },
  },
  {
    // KubeVirt reports that it runs, and its VirtualMachineInstance is not there.
    ask: 'unseen-instance',
    reasons: ['VirtualMachineInstanceUnseen'],
    make: async (cluster) => {
      await cluster.machineOn('unseen-instance', ['net']);
      await cluster.hasAddresses('unseen-instance');
      await cluster.patchStatus('VirtualMachine', 'default/unseen-instance', { created: true });
      await changeInterface(cluster, 'unseen-instance');
    },
  },
  {
    ask: 'twice',
    reasons: ['MacAddressTwice'],
    make: async (cluster) => {
      const one = oneOn(cluster);
      await cluster.machineWith('twice', [one, { ...one, name: 'b' }]);
    },
  },
  {
    ask: 'second',
    reasons: ['MacAddressClaimedTwice'],
    make: async (cluster) => {
      const [macAddress = ''] = await cluster.machineOn('first', ['net']);
      await cluster.hasAddresses('first');
      await cluster.machineWith('second', [oneOn(cluster, macAddress)]);
    },
  },
  {
    ask: 'unreadable',
    reasons: ['MacAddressUnreadable'],
    make: (cluster) => cluster.machineWith('unreadable', [oneOn(cluster, 'web')]),
  },
  {
    ask: 'in-the-pod',
    reasons: ['BindingNotServed'],
    make: (cluster) => cluster.machineWith('in-the-pod', [{ ...oneOn(cluster), binding: 'masquerade' }]),
  },
  {
    ask: 'many',
    reasons: ['TooManyInterfaces'],
    make: async (cluster) => void (await cluster.machineOn('many', ['net', 'net', 'net', 'net', 'net'])),
  },
  { ask: 'nowhere', reasons: ['NetworkUnknown'], make: async (cluster) => void (await cluster.machineOn('nowhere', ['none'])) },
  {
    ask: 'long',
    reasons: ['NetworkNameTooLong'],
    make: async (cluster) => {
      await cluster.addNetwork(LONG);
      await cluster.machineOn('long', [LONG]);
    },
  },
  {
    ask: 'external',
    reasons: ['ExternalDHCP'],
    make: async (cluster) => {
      const network = networkAttachment('default/external');
      const annotations = { [`${PREFIX}/external-dhcp`]: 'true' };
      await cluster.admin.create({ ...network, metadata: { ...network.metadata, annotations } });
      await cluster.machineOn('external', ['external']);
    },
  },
  {
    ask: 'paused',
    reasons: ['NetworkConfigPaused'],
    make: async (cluster) => {
      await cluster.machineOn('paused', ['net']);
      await cluster.admin.waitForObject('VirtualMachineNetworkConfig', 'default/paused', () => true);
      await cluster.admin.patch('VirtualMachineNetworkConfig', 'default/paused', { spec: { paused: true } });
    },
  },
  {
    ask: 'nameless',
    reasons: ['NetworkNameMissing'],
    make: (cluster) => cluster.configWith('nameless', [{ ...ENTRY, networkName: '' }]),
  },
  { ask: 'empty', reasons: ['NoInterfaces'], make: (cluster) => cluster.configWith('empty', []) },
  {
    // As the CustomResourceDefinition of another version takes it.
    ask: 'not-an-address',
    reasons: ['AddressUnreadable'],
    make: async (cluster) => {
      await takeAnyAddress(cluster);
      // The server serves the new definition a moment later.
      await waitFor('any text to be taken', () =>
        cluster.configWith('not-an-address', [{ ...ENTRY, ipAddress: '10.1' }]).then(
          () => true,
          () => undefined,
        ),
      );
    },
  },
  {
    ask: 'tenant/refused',
    reasons: ['NetworkConfigRefused'],
    make: async (cluster) => {
      cluster.cluster.simulator.faults.inject({
        requests: { verb: 'create', resource: 'virtualmachinenetworkconfigs', namespace: 'tenant' },
        effect: { kind: 'answer', status: 422, reason: 'Invalid', message: 'not in this namespace' },
        times: 0,
      });
      await cluster.admin.create(virtualMachineWith('tenant/refused', [oneOn(cluster)]));
    },
  },
];

/** Without a controller. */
export const UNCONTROLLED_SITUATIONS: readonly Situation[] = [
  {
    ask: 'late',
    reasons: ['NetworkConfigMissing', 'ControllerNotLeading'],
    make: async (cluster) => void (await cluster.machineOn('late', ['net'])),
  },
  {
    ask: 'unassigned',
    reasons: ['AddressPending'],
    make: (cluster) => cluster.configWith('unassigned', [{ ...ENTRY, macAddress: cluster.macAddress() }]),
  },
];

/** From now on the controller may not read VirtualMachineInstances. */
export function refuseInstances({ cluster: { simulator } }: WhyCluster): void {
  for (const verb of ['list', 'watch'])
    simulator.faults.inject({
      requests: {
        verb,
        resource: 'virtualmachineinstances',
        username: `system:serviceaccount:${CONTROLLER_NAMESPACE}:${CONTROLLER}`,
      },
      effect: { kind: 'answer', status: 403, reason: 'Forbidden', message: 'virtualmachineinstances.kubevirt.io is forbidden' },
      times: 0,
    });
}

/** The interface has another MAC address in the template. */
async function changeInterface(cluster: WhyCluster, name: string): Promise<void> {
  const { spec } = virtualMachineWith(`default/${name}`, [{ ...oneOn(cluster), name: 'nic0' }]);
  await cluster.admin.patch('VirtualMachine', `default/${name}`, { spec });
}

async function takeAnyAddress({ admin }: WhyCluster): Promise<void> {
  const name = `virtualmachinenetworkconfigs.${PREFIX}`;
  const definition = await admin.waitForObject('CustomResourceDefinition', name, () => true);
  const { versions } = definition.spec as { readonly versions: unknown };
  const relaxed = JSON.stringify(versions, (key, value: unknown) =>
    key === 'ipAddress' ? { type: 'string', nullable: true } : value,
  );
  await admin.patch('CustomResourceDefinition', name, { spec: { versions: JSON.parse(relaxed) as unknown } });
}
