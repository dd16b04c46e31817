/**
 * Things that are removed in another order than the documented one, and definitions of another version: nothing stays in Terminating that the
 * controller or `uninstall` would not release. Always against a simulated API server: one story, in one cluster.
 */
import { type KubernetesObject, readConditions, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyUpstreamDefinitions,
  type ClusterAccess,
  CONTROLLER_BIN,
  ipPool,
  LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const DEFINITIONS = ['ippools.network.harvesterhci.io', 'virtualmachinenetworkconfigs.network.harvesterhci.io'];
const GONE_WITHIN_MS = 40_000;

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: LabProcess;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['controller', 'crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
  });
  admin = cluster.admin;
  await start();
});

afterAll(() => cluster.close());

async function start(...flags: readonly string[]): Promise<void> {
  controller = await cluster.startController('--namespace', 'vm-dhcp-agents', '--image', 'agent:v1', ...flags);
}

/** A namespace with a pool that agents are deployed for, and a virtual machine that has an address of it. */
async function createTenant(name: string): Promise<void> {
  const key = `${name}/net`;
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await admin.create(networkAttachment(key, 'mgmt'));
  await admin.create(ipPool(key));
  await admin.create(virtualMachine(`${name}/vm`, '02:00:00:00:00:01', key));
  await admin.waitForObject('VirtualMachineNetworkConfig', `${name}/vm`, ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
  await admin.waitForObject('IPPool', key, ({ metadata }) => (metadata.finalizers ?? []).length > 0);
}

async function gone(kind: string, name: string): Promise<void> {
  await waitFor(`${kind} ${name} to go`, async () => (await admin.get(kind, name)) === undefined, GONE_WITHIN_MS);
}

async function uninstall(...flags: readonly string[]): Promise<string> {
  const parameters = ['uninstall', '--kubeconfig', cluster.adminKubeconfig, ...flags];
  const running = new LabProcess(process.execPath, [CONTROLLER_BIN, ...parameters]);
  const { code } = await running.ended(60_000);
  expect(code, running.lines.join('\n')).toBe(0);
  return running.lines.join('\n');
}

/** Our definition as a newer version would apply it: with a field and a column that this version does not have. */
async function addFieldOfTheFuture(): Promise<void> {
  const [name = ''] = DEFINITIONS;
  const definition = JSON.parse(JSON.stringify(await admin.get('CustomResourceDefinition', name))) as KubernetesObject;
  const versions = readField(definition.spec, 'versions') as {
    additionalPrinterColumns: unknown[];
    schema: { openAPIV3Schema: { properties: Record<string, { properties: Record<string, unknown> }> } };
  }[];
  const spec = versions[0]?.schema.openAPIV3Schema.properties['spec'];
  if (spec !== undefined) spec.properties['future'] = { type: 'string' };
  versions[0]?.additionalPrinterColumns.push({ name: 'FUTURE', type: 'string', jsonPath: '.spec.future' });
  const annotations = { ...definition.metadata.annotations, 'network.harvesterhci.io/applied-by-version': '99.0.0' };
  const written = await admin
    .client('CustomResourceDefinition')
    .replace({ ...definition, metadata: { ...definition.metadata, annotations } });
  expect(written.ok).toBe(true);
}

describe('removed in another order, always against a simulated API server', () => {
  it('a namespace with a pool is deleted completely while the controller runs', async () => {
    await createTenant('first');
    await admin.delete('Namespace', 'first');
    await gone('Namespace', 'first');
  });

  it('the namespace of the agents is deleted, and the controller does not prevent it', async () => {
    await createTenant('second');
    await admin.delete('Namespace', 'vm-dhcp-agents');
    await gone('Namespace', 'vm-dhcp-agents');
    expect(controller.hasEnded).toBe(false);
    // The rights of the controller there went with it.
    await cluster.apply('controller');
    await admin.waitForObject('Namespace', 'vm-dhcp-agents', () => true);
  });

  it('definitions of a newer version keep their fields when a controller of this version starts', async () => {
    await addFieldOfTheFuture();
    await admin.patch('IPPool', 'second/net', { spec: { future: 'kept' } });
    await controller.stop();
    await start();
    const pool = await admin.waitForObject('IPPool', 'second/net', ({ status }) => readField(status, 'ipv4') !== undefined);
    expect(readField(pool.spec, 'future')).toBe('kept');
  });

  it('definitions of an older version are reported with --no-crds, and else brought up to date when the controller starts; addresses stay', async () => {
    const allocated = async () => readField((await admin.get('IPPool', 'second/net'))?.status, 'ipv4', 'allocated');
    const before = await allocated();
    await controller.stop();
    const annotations = { 'network.harvesterhci.io/applied-by-version': null };
    await admin.patch('CustomResourceDefinition', DEFINITIONS[0] ?? '', { metadata: { annotations } });
    await applyUpstreamDefinitions(admin);
    const flags = ['--namespace', 'vm-dhcp-agents', '--image', 'agent:v1', '--no-crds', '--http', 'off'];
    controller = await cluster.startUnreadyController(...flags);
    await controller.line('lacks fields of this version');
    await controller.stop();
    await start();
    const definition = await admin.get('CustomResourceDefinition', DEFINITIONS[0] ?? '');
    expect(JSON.stringify(definition?.spec)).toContain('conflictProbe');
    expect(await allocated()).toEqual(before);
  });

  it('definitions that are deleted while no controller runs stay in Terminating until uninstall releases their objects', async () => {
    await controller.stop();
    for (const name of DEFINITIONS) await admin.delete('CustomResourceDefinition', name);
    for (const name of DEFINITIONS)
      await admin.waitForObject('CustomResourceDefinition', name, ({ status }) =>
        JSON.stringify(status).includes('InstanceDeletionInProgress'),
      );
    await expect(admin.create(ipPool('default/late'))).rejects.toThrow(
      'create not allowed while custom resource definition is terminating',
    );
    await admin.delete('Namespace', 'second');
    await uninstall();
    for (const name of DEFINITIONS) await gone('CustomResourceDefinition', name);
    await gone('Namespace', 'second');
    expect(await uninstall()).toMatch(
      /^nothing to remove\nkept for a successor: 65 ConfigMaps with records of assignments; [^\n]*$/,
    );
  });

  it('definitions that are deleted while the controller runs go with their objects', async () => {
    await start();
    await createTenant('third');
    for (const name of DEFINITIONS) await admin.delete('CustomResourceDefinition', name);
    for (const name of DEFINITIONS) await gone('CustomResourceDefinition', name);
    await admin.delete('Namespace', 'third');
    await gone('Namespace', 'third');
  });
});
