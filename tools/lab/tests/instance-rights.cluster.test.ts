/** A controller whose ClusterRole is of a version that did not read VirtualMachineInstances. Always against a simulated API server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  CLUSTER_EXAMPLES,
  ClusterAccess,
  CONTROLLER_BIN,
  LabProcess,
  readYaml,
  serviceAccountToken,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const INSTANCES = 'virtualmachineinstances';
const MAC = '02:00:00:00:00:0a';
let folder: string;
let simulator: KubeSimulator;
let admin: ClusterAccess;
let controller: LabProcess;
/** The rules of the example, as they are. */
let rules: readonly unknown[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-instance-rights-'));
  simulator = await startKubeSimulator();
  admin = await ClusterAccess.open(kubeconfigOf('admin', simulator.adminToken));
  for (const file of ['namespace.yaml', 'rbac.yaml', 'crds.yaml']) await admin.applyFile(join(CLUSTER_EXAMPLES, file));
  const role = readYaml(join(CLUSTER_EXAMPLES, 'rbac.yaml')).find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'vm-dhcp-controller',
  );
  rules = (role as unknown as { readonly rules: readonly unknown[] }).rules;
  const earlier = JSON.parse(JSON.stringify(rules).replace(`,"${INSTANCES}"`, '')) as readonly unknown[];
  expect(JSON.stringify(earlier)).not.toContain(INSTANCES);
  await admin.patch('ClusterRole', 'vm-dhcp-controller', { rules: earlier });
  const token = await serviceAccountToken(admin, 'harvester-system', 'vm-dhcp-controller');
  const flags = ['--kubeconfig', kubeconfigOf('controller', token), '--no-leader-election', '--no-agent', '--http', 'off'];
  controller = new LabProcess(process.execPath, [CONTROLLER_BIN, 'run', ...flags]);
});

afterAll(async () => {
  await controller?.stop();
  admin?.close();
  await simulator?.stop();
  rmSync(folder, { recursive: true });
});

function kubeconfigOf(name: string, token: string): string {
  const path = join(folder, `${name}.kubeconfig`);
  writeFileSync(path, simulator.kubeconfig({ name, token }), { mode: 0o600 });
  return path;
}

async function recorded(): Promise<unknown> {
  return readField((await admin.get('IPPool', 'default/pool'))?.status, 'ipv4', 'allocated');
}

const logged = (text: string) => waitFor(text, async () => controller.lines.some((line) => line.includes(text)), 40_000);

it('names the rule that is missing, assigns addresses, frees none, and continues as soon as the rule is there', async () => {
  await logged('get, list and watch on virtualmachineinstances of the API group kubevirt.io');
  await admin.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: 'net' },
    spec: {},
  });
  await admin.create({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'pool' },
    spec: {
      networkName: 'default/net',
      ipv4Config: { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.12' } },
    },
  });
  const machine = virtualMachine('default/a', MAC, 'default/net');
  await admin.create(machine);
  await waitFor('an address', async () => readField(await recorded(), '10.1.0.10') === MAC);

  // The virtual machine runs, and its template loses its interface.
  const { spec } = (machine.spec as { readonly template: { readonly spec: unknown } }).template as { readonly spec: object };
  const instance = { kind: 'VirtualMachineInstance', metadata: { namespace: 'default', name: 'a' }, spec } as KubernetesObject;
  await admin.create({ apiVersion: 'kubevirt.io/v1', ...instance, status: { phase: 'Running' } as unknown });
  const without = { template: { spec: { domain: { devices: { interfaces: [] } }, networks: [] } } };
  await admin.patch('VirtualMachine', 'default/a', { spec: without });
  await waitFor('an Event', async () =>
    (await admin.list('Event')).some((one) => readText(one, 'reason') === 'VirtualMachineInstancesUnreadable'),
  );
  expect(await recorded()).toEqual({ '10.1.0.10': MAC });

  await admin.patch('ClusterRole', 'vm-dhcp-controller', { rules });
  await logged('VirtualMachineInstances are listed');
  expect(await recorded()).toEqual({ '10.1.0.10': MAC });
  await admin.delete('VirtualMachineInstance', 'default/a');
  await waitFor('the address to be free', async () => readField(await recorded(), '10.1.0.10') === undefined);
}, 60_000);
