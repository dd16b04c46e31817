/**
 * Reasons that `kubectl vmdhcp why` gives, each in a situation that a controller of this checkout made: one simulated cluster, all situations at once, with what
 * admission would refuse. Those of why.cluster.test.ts and remedies.cluster.test.ts are not repeated.
 */
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ipPool,
  KubectlPlugin,
  type LabProcess,
  type MachineInterface,
  networkAttachment,
  PrivateCluster,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const PREFIX = 'network.harvesterhci.io';
const STATIC = 'static-ip.harvesterhci.io';
/** Pools that the leader of the agents reports something of. */
const REPORTED = [
  'Draining',
  'Opening',
  'NotListed',
  'PoolMissing',
  'DryRun',
  'InterfaceNotIsolated',
  'AddressFailed',
  'SocketFailed',
];

const plugin = new KubectlPlugin();
let cluster: PrivateCluster;
let controller: LabProcess;
let count = 0;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['controller', 'crds.yaml'], {
    // No node has the label of the cluster network `far`.
    nodes: ['mgmt', 'crash'].map((name) => ({ name, labels: { [`${PREFIX}/${name}`]: 'true' } })),
    podBackOff: { firstMs: 10, longestMs: 100 },
    runPod,
  });
  const networks = ['--service-cidr', '10.96.0.0/16', '--pod-cidr', '10.244.0.0/16', '--api-server-address', '10.7.0.2'];
  controller = await cluster.startController(
    ...['--namespace', 'vm-dhcp-agents', '--image', 'agent:v1', '--agent-replicas', '1', ...networks],
  );
  await addPools();
  for (const { make } of SITUATIONS) await make();
  await report();
}, 180_000);

afterAll(async () => {
  plugin.close();
  await cluster?.close();
}, 180_000);

/** Those of the cluster network `crash` end at once. */
function runPod(pod: Pod): PodProcess {
  const isCrashing = JSON.stringify(pod.spec).includes(`${PREFIX}/crash`);
  return isCrashing ? { ready: new Promise(() => {}), exited: Promise.resolve(1), stop: () => {} } : idlePod(pod);
}

async function addPool(name: string, ipv4Config: Readonly<Record<string, unknown>> = {}, clusterNetwork = 'mgmt'): Promise<void> {
  await cluster.admin.create(networkAttachment(`default/${name}`, clusterNetwork));
  await cluster.admin.create(ipPool(`default/${name}`, { ipv4Config }));
}

async function addPools(): Promise<void> {
  await addPool('net');
  const subnet = (start: string, more: object = {}) => ({
    cidr: `${start}.0.0/16`,
    serverIP: `${start}.0.2`,
    pool: { start: `${start}.0.10`, end: `${start}.9.0`, ...more },
  });
  await addPool('service', subnet('10.96'));
  await addPool('pod', subnet('10.244'));
  await addPool('api', subnet('10.7'));
  await addPool('excluding', subnet('10.8', { exclude: ['10.8.1.0-10.8.4.0'] }));
  await addPool('far', subnet('10.9'), 'far');
  await addPool('crash', subnet('10.10'), 'crash');
  for (const [index, reason] of REPORTED.entries()) await addPool(reason.toLowerCase(), subnet(`10.${20 + index}`));
  const quarantined = { '10.1.0.60': { until: '2099-01-01T00:00:00Z', usedBy: '02:00:00:00:99:99' } };
  await cluster.admin.client('IPPool').patchStatus({ key: 'default/net' }, { status: { ipv4: { quarantined } } });
}

function macAddress(): string {
  const number = ++count;
  return `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`;
}

/** A virtual machine with an interface on each of these networks. */
function machineOn(name: string, networks: readonly string[], annotations: Readonly<Record<string, string>> = {}) {
  const interfaces = networks.map((network, index) => ({
    name: `nic${index}`,
    macAddress: macAddress(),
    network: `default/${network}`,
  }));
  return machineWith(name, interfaces, annotations);
}

async function machineWith(
  name: string,
  interfaces: readonly MachineInterface[],
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await cluster.admin.create(virtualMachineWith(`default/${name}`, interfaces, annotations));
}

/** A VirtualMachineNetworkConfig that a person wrote. */
async function configWith(name: string, networkConfigs: readonly object[]): Promise<void> {
  await cluster.admin.create({
    apiVersion: `${PREFIX}/v1alpha1`,
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name },
    spec: { vmName: name, networkConfigs },
  } as KubernetesObject);
}

/** As the leader of the agents of the cluster network `mgmt` does. */
async function report(): Promise<void> {
  const { status } = await cluster.admin.waitForObject(
    'IPPool',
    `default/${REPORTED.at(-1)?.toLowerCase()}`,
    (pool) => readField(pool.status, 'agentDeploymentRef') !== undefined,
  );
  const key = ['namespace', 'name'].map((field) => readText(status, 'agentDeploymentRef', field)).join('/');
  await cluster.admin.waitForObject('Lease', key, () => true);
  const pools = REPORTED.map(
    (reason) => [`default/${reason.toLowerCase()}`, { serving: false, reason, message: 'why' }] as const,
  );
  const annotations = {
    [`${PREFIX}/agent-report`]: JSON.stringify(Object.fromEntries(pools)),
    [`${PREFIX}/lease-duration-ms`]: null,
  };
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  await cluster.admin.patch('Lease', key, {
    metadata: { annotations },
    spec: { holderIdentity: 'agent_x', leaseDurationSeconds: 3_600, renewTime },
  });
}

interface Situation {
  /** Name of a virtual machine, or an address. */
  readonly ask: string;
  readonly reasons: readonly string[];
  readonly make: () => Promise<void>;
}

const ENTRY = { networkName: 'default/net', macAddress: '02:00:00:00:98:01' };
const LONG = 'n'.repeat(70);

const SITUATIONS: readonly Situation[] = [
  {
    ask: 'stopped',
    reasons: ['VirtualMachineStopped', 'NoInterfaceOnNetwork'],
    make: async () => {
      const template = { spec: { domain: { devices: { interfaces: [{ name: 'a' }] } }, networks: [{ name: 'a', pod: {} }] } };
      await cluster.admin.create({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        metadata: { namespace: 'default', name: 'stopped' },
        spec: { runStrategy: 'Halted', template },
      } as KubernetesObject);
    },
  },
  {
    ask: 'bare',
    reasons: ['TemplateMissing'],
    make: async () => {
      const metadata = { namespace: 'default', name: 'bare' };
      await cluster.admin.create({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        metadata,
        spec: { running: true },
      } as KubernetesObject);
    },
  },
  {
    ask: 'annotated',
    reasons: ['OptOutWithoutInterface', 'StaticAddressWithoutInterface', 'StaticAddressUnreadable'],
    make: () =>
      machineOn('annotated', ['net'], {
        [`${PREFIX}/dhcp-opt-out`]: 'nic9',
        [`${STATIC}/nic8`]: '10.1.0.50',
        [`${STATIC}/nic0`]: 'ten',
      }),
  },
  {
    ask: 'mac-annotation',
    reasons: ['MacAddressAnnotationUnreadable'],
    make: () =>
      machineWith('mac-annotation', [{ name: 'a', macAddress: '', network: 'default/net' }], {
        'harvesterhci.io/mac-address': '{',
      }),
  },
  {
    ask: 'twice',
    reasons: ['MacAddressTwice'],
    make: () => {
      const one = { macAddress: macAddress(), network: 'default/net' };
      return machineWith('twice', [
        { name: 'a', ...one },
        { name: 'b', ...one },
      ]);
    },
  },
  {
    ask: 'unreadable',
    reasons: ['MacAddressUnreadable'],
    make: () => machineWith('unreadable', [{ name: 'a', macAddress: 'web', network: 'default/net' }]),
  },
  { ask: 'many', reasons: ['TooManyInterfaces'], make: () => machineOn('many', ['net', 'net', 'net', 'net', 'net']) },
  {
    ask: 'long',
    reasons: ['NetworkNameTooLong'],
    make: async () => {
      await cluster.admin.create(networkAttachment(`default/${LONG}`));
      await machineOn('long', [LONG]);
    },
  },
  {
    ask: 'external',
    reasons: ['ExternalDHCP'],
    make: async () => {
      const network = networkAttachment('default/external');
      const annotations = { [`${PREFIX}/external-dhcp`]: 'true' };
      await cluster.admin.create({ ...network, metadata: { ...network.metadata, annotations } });
      await machineOn('external', ['external']);
    },
  },
  {
    ask: 'paused',
    reasons: ['NetworkConfigPaused'],
    make: async () => {
      await machineOn('paused', ['net']);
      await cluster.admin.waitForObject('VirtualMachineNetworkConfig', 'default/paused', () => true);
      await cluster.admin.patch('VirtualMachineNetworkConfig', 'default/paused', { spec: { paused: true } });
    },
  },
  { ask: 'nameless', reasons: ['NetworkNameMissing'], make: () => configWith('nameless', [{ ...ENTRY, networkName: '' }]) },
  { ask: 'empty', reasons: ['NoInterfaces'], make: () => configWith('empty', []) },
  {
    ask: 'pinned',
    reasons: ['AddressUnavailable', 'OtherInterfaceRefused'],
    make: () => machineOn('pinned', ['excluding', 'net'], { [`${STATIC}/nic0`]: '10.8.2.0' }),
  },
  {
    ask: 'quarantined',
    reasons: ['AddressQuarantined'],
    make: () => machineOn('quarantined', ['net'], { [`${STATIC}/nic0`]: '10.1.0.60' }),
  },
  {
    ask: 'noted',
    reasons: ['OverlapsServiceCidr', 'OverlapsPodCidr', 'IsApiServer', 'ExclusionsNotListed'],
    make: () => machineOn('noted', ['service', 'pod', 'api', 'excluding']),
  },
  {
    ask: 'agents',
    reasons: ['NotScheduled', 'CrashLooping'],
    make: () => machineOn('agents', ['far', 'crash']),
  },
  ...[REPORTED.slice(0, 4), REPORTED.slice(4)].map((reasons, index): Situation => {
    const networks = reasons.map((reason) => reason.toLowerCase());
    return { ask: `reported-${index}`, reasons, make: () => machineOn(`reported-${index}`, networks) };
  }),
  {
    ask: 'refused',
    reasons: ['NetworkConfigRefused'],
    make: async () => {
      cluster.simulator.faults.inject({
        requests: { verb: 'create', resource: 'virtualmachinenetworkconfigs', namespace: 'tenant' },
        effect: { kind: 'answer', status: 422, reason: 'Invalid', message: 'not in this namespace' },
        times: 0,
      });
      await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } });
      const one = { name: 'a', macAddress: macAddress(), network: 'default/net' };
      await cluster.admin.create(virtualMachineWith('tenant/refused', [one]));
    },
  },
  { ask: '10.1.0.98', reasons: ['AddressFree'], make: async () => {} },
  { ask: '10.1.0.5', reasons: ['ClientUnknown'], make: async () => {} },
];

/** Every reason in the answer, wherever it stands. */
async function reasonsOf(subject: string): Promise<readonly string[]> {
  const key = /^\d/.test(subject) ? subject : `${subject === 'refused' ? 'tenant' : 'default'}/${subject}`;
  const { stdout, stderr } = await plugin.run(cluster.adminKubeconfig, ['why', key, '-o', 'json']);
  expect(stderr).toBe('');
  return [...stdout.matchAll(/"reason": ?"(\w+)"/g)].map(([, reason = '']) => reason);
}

async function shows(subject: string, reasons: readonly string[]): Promise<void> {
  let found: readonly string[] = [];
  await waitFor(
    `${reasons.join(', ')} of ${subject}`,
    async () => {
      found = await reasonsOf(subject);
      return reasons.every((reason) => found.includes(reason));
    },
    60_000,
  ).catch((error: unknown) => {
    throw new Error(`${subject} has ${found.join(', ')}`, { cause: error });
  });
}

describe('each reason, in a situation that makes it', { timeout: 90_000 }, () => {
  it.concurrent.each(SITUATIONS.map(({ ask, reasons }) => [ask, reasons] as const))('%s: %j', (ask, reasons) =>
    shows(ask, reasons),
  );
});

it('without a controller: none renews the Lease, and what it would do next waits', async () => {
  await controller.stop();
  await machineOn('late', ['net']);
  await shows('late', ['NetworkConfigMissing', 'ControllerNotLeading']);
  await configWith('pending', [{ ...ENTRY, macAddress: macAddress() }]);
  await shows('pending', ['AddressPending', 'ControllerNotLeading']);
}, 180_000);
