/**
 * The commands of "Removing it" in docs/tasks.md, one by one, and what they leave behind. Always against a simulated API
 * server, whatever KUBECONFIG names: they remove the product from the whole cluster.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KubernetesObject, readConditions, readField } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AdmissionWebhook,
  type ClusterAccess,
  CONTROLLER_BIN,
  CONTROLLER_NAMESPACE,
  ipPool,
  LabProcess,
  MANIFESTS,
  networkAttachment,
  PrivateCluster,
  readYaml,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const DOCUMENT = new URL('../../../docs/tasks.md', import.meta.url);
const LABEL = 'network.harvesterhci.io/vm-dhcp-controller';
const LABELLED = ['Deployment', 'Pod', 'Lease', 'Role', 'RoleBinding', 'ServiceAccount'];
const OURS = ['virtualmachinenetworkconfigs.network.harvesterhci.io', 'ippools.network.harvesterhci.io'];

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: LabProcess;
let webhook: AdmissionWebhook | undefined;

beforeEach(async () => {
  cluster = await PrivateCluster.start(['everything', 'crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
  });
  admin = cluster.admin;
  await startController();
  await cluster.apply('pools.yaml', 'virtual-machines.yaml');
  await admin.waitForObject('VirtualMachineNetworkConfig', 'default/web', ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
  await createTenant();
  await waitFor('pods of agents', async () => (await labelled('Pod')).length > 0);
  for (const pool of ['default/net-48', 'tenant/net'])
    await admin.waitForObject('IPPool', pool, ({ status }) => readField(status, 'agentDeploymentRef') !== undefined);
});

afterEach(async () => {
  webhook = undefined;
  await cluster.close();
});

/** With the rights of its ServiceAccount; the pods of the manifest are idle. */
async function startController(): Promise<void> {
  controller = await cluster.startController('--namespace', 'vm-dhcp-agents', '--image', 'agent:v1');
}

/** A namespace with a pool and a virtual machine that has an address of it. */
async function createTenant(): Promise<void> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } });
  await admin.create(networkAttachment('tenant/net'));
  await admin.create(ipPool('tenant/net'));
  await admin.create(virtualMachine('tenant/vm', '02:00:00:00:00:01', 'tenant/net'));
  await admin.waitForObject('VirtualMachineNetworkConfig', 'tenant/vm', ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
  await admin.waitForObject('IPPool', 'tenant/net', (pool) => (pool.metadata.finalizers ?? []).length > 0);
}

async function labelled(kind: string): Promise<KubernetesObject[]> {
  return (await admin.list(kind)).filter(({ metadata }) => metadata.labels?.[LABEL] !== undefined);
}

async function uninstall(...parameters: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const flags = ['--kubeconfig', cluster.adminKubeconfig, ...parameters];
  const running = new LabProcess(process.execPath, [CONTROLLER_BIN, 'uninstall', ...flags]);
  const { code } = await running.ended(90_000);
  return { code, output: running.lines.join('\n') };
}

/** The commands of the section, without comments. */
function documentedCommands(): string[] {
  const [, section = ''] = readFileSync(DOCUMENT, 'utf8').split('\n## Removing it\n');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  return block.split('\n').flatMap((line) => line.split('#')[0]?.trim() || []);
}

async function deleteFile(file: string): Promise<void> {
  if (file === 'manifests/vmdhcp.yaml') {
    await controller.stop();
    await webhook?.kill();
  }
  for (const { kind = '', metadata } of readYaml(join(MANIFESTS, '..', file))) {
    await admin.delete(kind, metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`);
  }
}

/** Does what a person who types the command has done. */
async function type(command: string, extra: readonly string[] = []): Promise<void> {
  const [, file] = /^kubectl delete (?:--ignore-not-found )?-f (\S+)$/.exec(command) ?? [];
  if (file !== undefined) return await deleteFile(file);
  const [, flags] = /^npx vmdhcp-controller uninstall(.*)$/.exec(command) ?? [];
  if (flags === undefined) throw new Error(`this test does not know what the command does: ${command}`);
  const { code, output } = await uninstall(...flags.split(' ').filter(Boolean), ...extra);
  expect(code, output).toBe(0);
}

async function expectNothingLeft(): Promise<void> {
  // What belonged to what was deleted is collected a moment later.
  const left = async () => (await Promise.all(LABELLED.map((kind) => labelled(kind)))).flat();
  await waitFor('all that is labelled to go', async () => (await left()).length === 0);
  expect(await admin.get('Lease', 'kube-system/vm-dhcp-controllers')).toBeUndefined();
  for (const { metadata } of await admin.list('NetworkAttachmentDefinition'))
    expect(Object.keys(metadata.labels ?? {}).filter((name) => name.includes('ippool'))).toEqual([]);
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'Secret'])
    await waitFor(`each ${kind} to go`, async () => (await admin.list(kind)).length === 0);
  for (const kind of ['ClusterRole', 'ClusterRoleBinding'])
    expect((await admin.list(kind)).filter(({ metadata }) => metadata.name.startsWith('vm-dhcp'))).toEqual([]);
  await waitFor('the agents’ namespace to go', async () => (await admin.get('Namespace', 'vm-dhcp-agents')) === undefined);
  await waitFor(
    'the namespace of the controller to go',
    async () => (await admin.get('Namespace', CONTROLLER_NAMESPACE)) === undefined,
  );
}

describe('the documented way to remove the product, always against a simulated API server', () => {
  it('leaves IPPools and VirtualMachineNetworkConfigs without finalizers, and nothing else', async () => {
    webhook = await cluster.startWebhook();
    const commands = documentedCommands();
    expect(commands.filter((command) => command.includes('uninstall'))).toHaveLength(2);
    for (const command of commands) {
      await type(command);
      if (!command.includes('manifests/vmdhcp.yaml')) continue;
      await admin.delete('Namespace', 'tenant');
      const { status } = await admin.waitForObject('Namespace', 'tenant', (namespace) =>
        JSON.stringify(namespace.status).includes('finalizers remaining'),
      );
      expect(JSON.stringify(status), 'the registration goes with the webhook').not.toContain('failed calling webhook');
    }
    await waitFor('the namespace that was held to go', async () => (await admin.get('Namespace', 'tenant')) === undefined);
    await expectNothingLeft();
    for (const { status } of await admin.list('IPPool'))
      expect(Object.keys(status as object), 'a successor may run its agents in another namespace').not.toContain(
        'agentDeploymentRef',
      );
    for (const kind of ['IPPool', 'VirtualMachineNetworkConfig']) {
      const objects = await admin.list(kind);
      expect(objects.length).toBeGreaterThan(0);
      for (const { metadata } of objects) expect(metadata.finalizers ?? []).toEqual([]);
    }
    const { code, output } = await uninstall();
    expect(code).toBe(0);
    expect(output).toMatch(/^nothing to remove\nkept for a successor: \d+ VirtualMachineNetworkConfigs?, 2 IPPools, 2 Custom/);
  });

  it('with --delete-data leaves not even their definitions', async () => {
    for (const command of documentedCommands()) {
      const isUninstall = command.endsWith(' uninstall');
      await type(command, isUninstall ? ['--delete-data'] : []);
    }
    await expectNothingLeft();
    const definitions = (await admin.list('CustomResourceDefinition')).map(({ metadata }) => metadata.name);
    expect(definitions.filter((name) => OURS.includes(name))).toEqual([]);
    expect(await uninstall('--delete-data')).toEqual({ code: 0, output: 'nothing to remove' });
  });

  it('refuses to run while a controller is leader, and names the remedy', async () => {
    const before = await admin.list('Deployment');
    const { code, output } = await uninstall();
    expect(code).toBe(1);
    expect(output).toMatch(
      /the controller \S+ is running .*stop it first, for example: kubectl -n vm-dhcp-system delete deployment/,
    );
    expect((await admin.list('Deployment')).length).toBe(before.length);
  });

  it.each([
    [{ kind: 'answer', status: 500 }, 1],
    [{ kind: 'close', when: 'after' }, 69],
  ] as const)('one sentence if the API server fails: %o', async (effect, expected) => {
    await controller.stop();
    cluster.simulator.faults.inject({ requests: { verb: 'delete', resource: 'deployments' }, effect });
    const { code, output } = await uninstall();
    expect(output).not.toMatch(/ at .*\.js:\d+/);
    expect(code, output).toBe(expected);
  });

  it('says that the Lease of a controller which could not release it has expired', async () => {
    await controller.stop();
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.000000Z' };
    await admin.patch('Lease', 'kube-system/vm-dhcp-controllers', { spec });
    const expired = /^the Lease of the controllers expired [\d,]+ seconds ago; gone was the last to hold it/m;
    expect((await uninstall('--dry-run')).output).toMatch(expired);
    const { code, output } = await uninstall();
    expect([code, output]).toEqual([0, expect.stringMatching(expired)]);
    expect(output).toContain('delete Lease kube-system/vm-dhcp-controllers');
  });

  it('--force removes everything although a controller may still be leader, and does not watch its Lease', async () => {
    controller.kill('SIGKILL');
    await controller.ended();
    expect(readField((await admin.get('Lease', 'kube-system/vm-dhcp-controllers'))?.spec, 'holderIdentity')).not.toBe('');
    expect((await uninstall('--dry-run')).output).toContain('may still be leader');
    const { code, output } = await uninstall('--force');
    expect(code, output).toBe(0);
    expect(output).not.toContain('may still be leader');
    expect(output).toContain('delete Deployment vm-dhcp-agents/vm-dhcp-agent-mgmt-1');
    expect(await labelled('Deployment')).toEqual([]);
  });

  it('refuses to run while agents serve whose Deployment it does not delete, and names the remedy', async () => {
    await controller.stop();
    const key = 'vm-dhcp-agents/vm-dhcp-agents';
    const spec = { holderIdentity: 'vm-dhcp-controller-agent-1', leaseDurationSeconds: 3 };
    await admin.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'vm-dhcp-agents', name: 'vm-dhcp-agents', labels: { [LABEL]: 'agent' } },
      spec,
    });
    let renewals = 0;
    const renewing = setInterval(() => void admin.patch('Lease', key, { spec: { leaseTransitions: ++renewals } }), 200);
    try {
      const { code, output } = await uninstall();
      expect(code, output).toBe(1);
      expect(output).toMatch(
        /agent vm-dhcp-agents\/vm-dhcp-controller-agent-1 is serving .* delete it first \(kubectl delete -f manifests\/vmdhcp-unified\.yaml/,
      );
      expect((await labelled('Deployment')).length).toBeGreaterThan(0);
      expect((await uninstall('--dry-run')).output).toContain('agent vm-dhcp-agents/vm-dhcp-controller-agent-1 may still serve');
    } finally {
      clearInterval(renewing);
    }
    const { code, output } = await uninstall();
    expect(code, output).toBe(0);
    const left = (await labelled('Lease')).map(({ metadata }) => metadata.name);
    expect(left, 'the Lease goes with the Deployment of the manifest, whose agents may not create it').toEqual([
      'vm-dhcp-agents',
    ]);
  });

  it('--dry-run lists what would be done and does nothing; --json lists it for programs', async () => {
    await controller.stop();
    const versions = async () =>
      (await Promise.all([...LABELLED, 'IPPool', 'NetworkAttachmentDefinition'].map((kind) => admin.list(kind))))
        .flat()
        .map(({ metadata }) => metadata.resourceVersion);
    // Pods go on becoming ready without the controller.
    await waitFor('pods that are ready', async () =>
      (await labelled('Deployment')).every(
        ({ spec, status }) => readField(status, 'readyReplicas') === readField(spec, 'replicas'),
      ),
    );
    const before = await versions();
    const { code, output } = await uninstall('--dry-run', '--json');
    expect(code).toBe(0);
    const { dryRun, steps, kept } = JSON.parse(output) as {
      readonly dryRun: boolean;
      readonly steps: readonly { readonly action: string; readonly kind: string; readonly name: string }[];
      readonly kept: Readonly<Record<string, number>>;
    };
    expect(dryRun).toBe(true);
    expect(steps[0]).toMatchObject({ action: 'delete', kind: 'Deployment' });
    expect(steps).toContainEqual({ action: 'delete', kind: 'Deployment', name: 'vm-dhcp-agents/vm-dhcp-agent-mgmt-1' });
    expect(steps).toContainEqual({
      action: 'patch',
      kind: 'IPPool',
      name: 'default/net-48',
      removes: ['finalizer wrangler.cattle.io/vm-dhcp-ippool-controller'],
    });
    const removes = ['status.agentDeploymentRef'];
    expect(steps).toContainEqual({ action: 'patch', kind: 'IPPool', name: 'default/net-48', removes });
    expect(kept).toMatchObject({ IPPool: 3, CustomResourceDefinition: 2, ConfigMap: 65 });
    expect(await versions()).toEqual(before);
  });
});
