/** A controller whose ClusterRole is of a version that did not read VirtualMachineInstances. Always against a simulated API server. */
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ClusterAccess,
  installedFor,
  ipPool,
  type LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const INSTANCES = 'virtualmachineinstances';
const MAC = '02:00:00:00:00:0a';
let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: LabProcess;
/** The rules of the manifest, as they are. */
let rules: readonly unknown[];

beforeAll(async () => {
  cluster = await PrivateCluster.start(['controller', 'crds.yaml']);
  admin = cluster.admin;
  const role = installedFor('controller').find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'vm-dhcp-controller',
  );
  rules = (role as unknown as { readonly rules: readonly unknown[] }).rules;
  const earlier = rules.filter((rule) => !JSON.stringify(rule).includes(INSTANCES));
  expect(earlier).toHaveLength(rules.length - 1);
  await admin.patch('ClusterRole', 'vm-dhcp-controller', { rules: earlier });
  controller = await cluster.startUnreadyController('--no-leader-election', '--no-agent', '--http', 'off');
  await cluster.startWebhook();
});

afterAll(() => cluster?.close());

async function recorded(): Promise<unknown> {
  return readField((await admin.get('IPPool', 'default/pool'))?.status, 'ipv4', 'allocated');
}

const logged = (text: string) => waitFor(text, async () => controller.lines.some((line) => line.includes(text)));

it('names the rule that is missing, assigns addresses, frees none, and continues as soon as the rule is there', async () => {
  await logged('list and watch on virtualmachineinstances of the API group kubevirt.io');
  await admin.create(networkAttachment('default/net'));
  await admin.create(
    ipPool('default/pool', { network: 'default/net', ipv4Config: { pool: { start: '10.1.0.10', end: '10.1.0.12' } } }),
  );
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
  await logged('VirtualMachineInstances listed');
  expect(await recorded()).toEqual({ '10.1.0.10': MAC });
  await admin.delete('VirtualMachineInstance', 'default/a');
  await waitFor('the address to be free', async () => readField(await recorded(), '10.1.0.10') === undefined);
});
