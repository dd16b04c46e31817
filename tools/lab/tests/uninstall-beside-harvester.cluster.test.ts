/** What `uninstall` leaves to Harvester's controller, whatever the Lease of the controllers says. Always against a simulated API server. */
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { idlePod } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  applyUpstreamDefinitions,
  CONTROLLER_BIN,
  ipPool,
  LabProcess,
  networkAttachment,
  PrivateCluster,
  poolOfUpstreamPod,
  UPSTREAM_NAMESPACE,
  upstreamAgentPod,
  upstreamChart,
} from '../src/index.js';

const LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' };
const COORDINATION = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const POOL = 'default/net';
const IPV4 = { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.99' } };

let cluster: PrivateCluster;

beforeAll(async () => {
  const nodes = [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }];
  cluster = await PrivateCluster.start(['controller', 'crds.yaml'], { nodes, runPod: idlePod });
  const { admin } = cluster;
  for (const name of [UPSTREAM_NAMESPACE, 'vm-dhcp-agents'])
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }).catch(() => undefined);
  await applyUpstreamDefinitions(admin);
  for (const object of upstreamChart()) await admin.create(object);
  await admin.create(networkAttachment(POOL, 'mgmt'));
  await admin.create(ipPool(POOL, { ipv4Config: IPV4 }));
  await admin.create(upstreamAgentPod((await admin.get('IPPool', POOL)) as KubernetesObject));
  await admin.create({ ...COORDINATION, metadata: LEASE, spec: {} } as KubernetesObject);
});

afterAll(() => cluster?.close());

/** What Harvester's controller needs. */
async function served() {
  const { admin } = cluster;
  const pods = (await admin.list('Pod')).filter((pod) => poolOfUpstreamPod(pod) !== undefined).map(keyOf);
  const pools = (await admin.list('IPPool')).map(({ metadata, spec, status }) => [
    keyOf({ metadata }),
    metadata.finalizers,
    spec,
    status,
  ]);
  const definition = await admin.get('CustomResourceDefinition', 'ippools.network.harvesterhci.io');
  return {
    pods,
    pools,
    isDefined: definition !== undefined,
    lease: (await admin.get('Lease', keyOf({ metadata: LEASE }))) !== undefined,
  };
}

async function uninstall(...flags: readonly string[]) {
  const parameters = [CONTROLLER_BIN, 'uninstall', '--kubeconfig', cluster.adminKubeconfig, '--delete-data', ...flags];
  const running = new LabProcess(process.execPath, parameters);
  const { code } = await running.ended(90_000);
  return { code, output: running.lines.join('\n') };
}

it.each<[what: string, spec: object, flags: string[]]>([
  ['whose Lease is released, as by a pod that restarts', { holderIdentity: '' }, []],
  [
    'that does not renew its Lease, as on a node that has failed',
    { holderIdentity: 'harvester-vm-dhcp-controller-5c-x', leaseDurationSeconds: 2 },
    [],
  ],
  ['whose Lease is not looked at', { holderIdentity: 'harvester-vm-dhcp-controller-5c-x' }, ['--force']],
  [
    'whose Lease is expired by the clock here',
    { holderIdentity: 'harvester-vm-dhcp-controller-5c-x', leaseDurationSeconds: 2 },
    ['--dry-run'],
  ],
])('uninstall leaves everything to a controller of Harvester %s', async (_, spec, flags) => {
  const renewTime = '2026-01-01T00:00:00.000000Z';
  await cluster.admin.patch('Lease', keyOf({ metadata: LEASE }), { spec: { renewTime, ...spec } });
  const before = await served();
  expect(before.pods).toHaveLength(1);
  const { code, output } = await uninstall(...flags);
  expect(code, output).toBe(0);
  expect(output).toContain("Harvester's controller serves the pools");
  expect(output).not.toMatch(/delete (IPPool|Pod|Lease kube-system|CustomResourceDefinition ippools)/);
  expect(await served()).toEqual(before);
});

it('uninstall does not wait for the Lease of a way back that is not complete', async () => {
  const metadata = {
    ...{ namespace: 'vm-dhcp-agents', name: 'g' },
    labels: { 'network.harvesterhci.io/vm-dhcp-controller': 'agent', 'network.harvesterhci.io/agent-group': 'g' },
  };
  const spec = { holderIdentity: 'vmdhcp-controller-migrate', leaseDurationSeconds: 604_800 };
  await cluster.admin.create({ ...COORDINATION, metadata, spec } as KubernetesObject);
  const { code, output } = await uninstall();
  expect([code, output]).toEqual([1, expect.stringContaining('run vmdhcp-controller migrate --back again')]);
});
