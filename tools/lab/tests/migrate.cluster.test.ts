/**
 * From Harvester's vm-dhcp-controller to this one and back, always against a simulated API server. Imitated: Harvester's controller
 * (`UpstreamController`), its add-on, and agents, which report and serve no packets. Real: the command, our controller with the rights of its
 * ServiceAccount, every object.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubernetesObject, keyOf, readConditions, readField } from '@vmdhcp/kube-runtime';
import { idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addOnDefinition,
  applyUpstreamDefinitions,
  type ClusterAccess,
  CONTROLLER_BIN,
  CONTROLLER_NAMESPACE,
  ipPool,
  LabProcess,
  networkAttachment,
  ownControllerDeployment,
  PrivateCluster,
  ProgramPod,
  poolOfUpstreamPod,
  ReportingAgent,
  serviceAccountToken,
  UPSTREAM_NAME,
  UPSTREAM_NAMESPACE,
  UpstreamController,
  upstreamAddOn,
  upstreamChart,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const POOLS = ['default/net-48', 'tenant/net-49'];
const OWN = `${CONTROLLER_NAMESPACE}/vm-dhcp-controller`;
const ADD_ON = `${UPSTREAM_NAMESPACE}/${UPSTREAM_NAME}`;
const COMPONENT = 'app.kubernetes.io/component';

let cluster: PrivateCluster;
let admin: ClusterAccess;
let folder: string;
let backup: string;
let harvester: NodeJS.Timeout;

/** What each pod of the cluster runs. */
function runPod(pod: Pod): PodProcess {
  const labels: Readonly<Record<string, string>> = pod.metadata.labels ?? {};
  if (labels['network.harvesterhci.io/agent-group'] !== undefined) return new ReportingAgent(pod, admin);
  if (poolOfUpstreamPod(pod as unknown as KubernetesObject) !== undefined || labels[COMPONENT] !== 'controller')
    return idlePod(pod);
  if (labels['app.kubernetes.io/name'] === UPSTREAM_NAME) return new UpstreamController(admin);
  return new ProgramPod(pod, cluster.place);
}

/** As Harvester does with the chart of an add-on; what the chart's controller and webhook made stays. */
async function reconcileAddOn(): Promise<void> {
  const enabled = readField((await admin.get('Addon', ADD_ON))?.spec, 'enabled');
  for (const object of upstreamChart()) {
    const present = await admin.get(object.kind ?? '', keyOf(object));
    if (enabled === true && present === undefined) await admin.create(object);
    if (enabled === false && present !== undefined) await admin.delete(object.kind ?? '', keyOf(object));
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-migrate-'));
  backup = join(folder, 'backup.json');
  cluster = await PrivateCluster.start(['controller', 'crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
    runPod,
  });
  admin = cluster.admin;
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: UPSTREAM_NAMESPACE } });
  await cluster.apply('takeover.yaml');
  await admin.create(addOnDefinition());
  await applyUpstreamDefinitions(admin);
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } });
  for (const [index, key] of POOLS.entries()) await createPool(key, index);
  await admin.create(upstreamAddOn());
  let isBusy = false;
  harvester = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void reconcileAddOn()
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  }, 200);
  for (const key of POOLS) await served(key, 'agentPodRef');
  await admin.create(ownControllerDeployment('vmdhcp-agent:lab'));
  await admin.waitForObject('Deployment', OWN, ({ status }) => readField(status, 'availableReplicas') === 1);
}, 60_000);

afterAll(async () => {
  clearInterval(harvester);
  await admin.delete('Deployment', OWN);
  await waitFor('our controller to end', async () => !(await admin.list('Pod')).some(isOfController));
  await cluster.close();
  rmSync(folder, { recursive: true });
}, 30_000);

function isOfController({ metadata }: KubernetesObject): boolean {
  return metadata.namespace === CONTROLLER_NAMESPACE;
}

/** A pool as Harvester's controller leaves it, and a virtual machine that has an address of it. */
async function createPool(key: string, index: number): Promise<void> {
  const [namespace = '', name = ''] = key.split('/', 2);
  const subnet = `10.${index + 1}.0`;
  const labels = { 'network.harvesterhci.io/ippool-namespace': namespace, 'network.harvesterhci.io/ippool-name': name };
  const network = networkAttachment(key, 'mgmt');
  await admin.create({ ...network, metadata: { ...network.metadata, labels: { ...network.metadata.labels, ...labels } } });
  const ipv4Config = { cidr: `${subnet}.0/24`, serverIP: `${subnet}.2`, pool: { start: `${subnet}.10`, end: `${subnet}.99` } };
  await admin.create(ipPool(key, { ipv4Config }));
  const macAddress = `02:00:00:00:00:0${index}`;
  const allocated = { [`${subnet}.42`]: macAddress };
  await admin.client('IPPool').patchStatus({ key }, { status: { ipv4: { allocated, used: 1, available: 89 } } });
  await admin.create(virtualMachine(`${namespace}/vm-${index}`, macAddress, key));
}

async function served(key: string, ref: 'agentPodRef' | 'agentDeploymentRef'): Promise<void> {
  await admin.waitForObject('IPPool', key, ({ status }) => readField(status, ref) !== undefined);
}

async function addresses(): Promise<unknown[]> {
  return (await admin.list('IPPool')).map(({ status }) => readField(status, 'ipv4', 'allocated'));
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

function start(flags: readonly string[], onLine: (line: string) => void = () => undefined): LabProcess {
  const parameters = ['--kubeconfig', cluster.adminKubeconfig, '--backup', backup, '--timeout', '30', ...flags];
  return new LabProcess(process.execPath, [CONTROLLER_BIN, 'migrate', ...parameters], { onLine });
}

async function migrate(...flags: readonly string[]): Promise<Ran> {
  const running = start(flags);
  const { code } = await running.ended(40_000);
  return { code, output: running.lines.join('\n') };
}

/** Runs the command until it is done, and kills it whenever it begins a step that it has not begun before. @returns those steps. */
async function migrateWithKills(...flags: readonly string[]): Promise<string[]> {
  const begun: string[] = [];
  for (;;) {
    const running = start(flags, (line) => {
      const [, title] = /^\d+\/\d+ (.*)$/.exec(line) ?? [];
      if (title === undefined || begun.includes(title)) return;
      begun.push(title);
      running.kill('SIGKILL');
    });
    const { code, signal } = await running.ended(40_000);
    if (signal === 'SIGKILL') continue;
    expect(code, running.lines.join('\n')).toBe(0);
    return begun;
  }
}

describe('vmdhcp-controller migrate, always against a simulated API server', { timeout: 120_000 }, () => {
  it('names every right that is missing, and changes nothing', async () => {
    const token = await serviceAccountToken(admin, 'default', 'default');
    const kubeconfig = cluster.writeKubeconfig('unprivileged', token);
    const { code, output } = await migrate('--kubeconfig', kubeconfig);
    expect(code).toBe(1);
    expect(output).toContain(
      'problem: rights: you may not: list addons.harvesterhci.io; patch addons.harvesterhci.io; list deployments.apps;',
    );
    expect(output).toContain('delete validatingwebhookconfigurations.admissionregistration.k8s.io');
    expect(existsSync(backup)).toBe(false);
  });

  it('lists what it would do, and does nothing; as JSON for programs', async () => {
    const text = await migrate('--dry-run');
    expect(text.code, text.output).toBe(0);
    expect(text.output).toContain(`1. write everything that changes into the backup file`);
    const { code, output } = await migrate('--dry-run', '--output', 'json');
    expect(code).toBe(0);
    const result = JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '') as {
      readonly problems: readonly unknown[];
      readonly steps: readonly { readonly id: string }[];
    };
    expect(result.problems).toEqual([]);
    expect(result.steps.map(({ id }) => id)).toEqual([
      'back up',
      `stop ${UPSTREAM_NAMESPACE}/${UPSTREAM_NAME}`,
      `stop ${UPSTREAM_NAMESPACE}/${UPSTREAM_NAME}-webhook`,
      `unregister MutatingWebhookConfiguration ${UPSTREAM_NAME}-webhook`,
      `unregister ValidatingWebhookConfiguration ${UPSTREAM_NAME}-webhook`,
      ...POOLS.map((key) => `move ${key}`),
      `disable ${ADD_ON}`,
    ]);
    expect(existsSync(backup)).toBe(false);
    expect(readField((await admin.get('Deployment', ADD_ON))?.spec, 'replicas')).toBe(1);
  });

  it('refuses to begin while something is wrong, and names the remedy', async () => {
    const containers = (replaced: string) =>
      JSON.parse(JSON.stringify(ownControllerDeployment('i').spec).replace('"harvester-system"', `"${replaced}"`));
    await admin.delete('Deployment', OWN);
    const wrong = { ...ownControllerDeployment('i'), spec: { ...containers('elsewhere'), replicas: 0 } };
    await admin.create(wrong);
    const { code, output } = await migrate();
    expect(code).toBe(1);
    expect(output).toContain(`problem: Deployment ${OWN}: Harvester's agents are in namespace ${UPSTREAM_NAMESPACE}`);
    expect(output).toContain('set env deployment/vm-dhcp-controller AGENT_PREVIOUS_NAMESPACE=harvester-system');
    expect(existsSync(backup)).toBe(false);
    await admin.delete('Deployment', OWN);
    await admin.create(ownControllerDeployment('vmdhcp-agent:lab'));
  });

  it('moves everything although it is killed at the beginning of each step, and addresses stay', async () => {
    const before = await addresses();
    const steps = await migrateWithKills();
    expect(steps.length, steps.join('\n')).toBeGreaterThanOrEqual(6);
    for (const key of POOLS) {
      const pool = await admin.waitForObject('IPPool', key, ({ status }) =>
        readConditions(status).some(({ type, status: is }) => type === 'AgentReady' && is === 'True'),
      );
      expect(readField(pool.status, 'agentPodRef')).toBeUndefined();
    }
    expect(await addresses()).toEqual(before);
    expect((await admin.list('Pod')).filter((pod) => poolOfUpstreamPod(pod) !== undefined)).toEqual([]);
    expect(await admin.list('ValidatingWebhookConfiguration')).toEqual([]);
    expect(JSON.parse(readFileSync(backup, 'utf8'))).toMatchObject({ kind: 'List' });
    const again = await migrate();
    expect(again.code).toBe(0);
    expect(again.output).toContain('nothing to do');
  });

  it('goes back although it is killed at the beginning of each step, names what is lost, and addresses stay', async () => {
    const before = await addresses();
    await admin.patch('IPPool', POOLS[0] ?? '', { spec: { conflictProbe: 'Disabled' } });
    const { output } = await migrate('--back', '--dry-run');
    expect(output).toContain(`lost: IPPool ${POOLS[0]}: spec.conflictProbe`);
    const steps = await migrateWithKills('--back');
    expect(steps.length).toBeGreaterThanOrEqual(7);
    for (const key of POOLS) await served(key, 'agentPodRef');
    expect(await addresses()).toEqual(before);
    const left = (await admin.list('Pod')).filter(
      ({ metadata }) => metadata.labels?.['network.harvesterhci.io/agent-group'] !== undefined,
    );
    expect(left).toEqual([]);
    for (const kind of ['Role', 'RoleBinding', 'Lease'])
      expect((await admin.list(kind)).filter(({ metadata }) => metadata.name.startsWith('vm-dhcp-agent-'))).toEqual([]);
    const definition = await admin.get('CustomResourceDefinition', 'ippools.network.harvesterhci.io');
    expect(JSON.stringify(definition?.spec)).not.toContain('conflictProbe');
  });
});
