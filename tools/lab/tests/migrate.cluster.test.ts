/**
 * From Harvester's vm-dhcp-controller to this one and back, always against a simulated API server. Imitated: Harvester's controller
 * (`UpstreamController`), its add-on, and agents, which report and serve no packets. Real: the command, our controller with the rights of its
 * ServiceAccount, every object.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neededRights } from '@vmdhcp/controller-process/migration';
import { type KubernetesObject, keyOf, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addOnDefinition,
  applyUpstreamDefinitions,
  CLUSTER_EXAMPLES,
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
  readYaml,
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
const DEFINITION = 'ippools.network.harvesterhci.io';
const OWN = `${CONTROLLER_NAMESPACE}/vm-dhcp-controller`;
const ADD_ON = `${UPSTREAM_NAMESPACE}/${UPSTREAM_NAME}`;
const COMPONENT = 'app.kubernetes.io/component';

/** Ours takes the Lease of Harvester's controller soon after that has released it. */
const SOON_LEADER = {
  CATTLE_ELECTION_LEASE_DURATION: '9s',
  CATTLE_ELECTION_RENEW_DEADLINE: '7s',
  CATTLE_ELECTION_RETRY_PERIOD: '300ms',
};

let cluster: PrivateCluster;
let admin: ClusterAccess;
let folder: string;
let backup: string;
let harvester: NodeJS.Timeout;
/** The flags by which the command runs as a user who may only do what it asks for. */
let forward: readonly string[];

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
  await admin.create(ownControllerDeployment('vmdhcp-agent:lab', SOON_LEADER));
  await admin.waitForObject('Deployment', OWN, ({ status }) => readField(status, 'availableReplicas') === 1);
});

afterAll(async () => {
  clearInterval(harvester);
  await admin.delete('Deployment', OWN);
  await waitFor('our controller to end', async () => !(await admin.list('Pod')).some(isOfController));
  await cluster.close();
  rmSync(folder, { recursive: true });
});

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
  const { code } = await running.ended();
  return { code, output: running.lines.join('\n') };
}

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const titleOf = (line: string) => /^\d+\/\d+ (.*)$/.exec(line)?.[1];

/** Runs the command until it is done; kills it when it begins one of these steps for the first time. That any step may be killed is a law of the plans. */
async function migrateWithKills(killed: readonly RegExp[], ...flags: readonly string[]): Promise<string[]> {
  const titles = new Set<string>();
  const waiting = [...killed];
  for (;;) {
    const running = start(flags, (line) => {
      const title = titleOf(line);
      if (title === undefined) return;
      titles.add(title);
      const at = waiting.findIndex((one) => one.test(title));
      if (at < 0) return;
      waiting.splice(at, 1);
      running.kill('SIGKILL');
    });
    const { code, signal } = await running.ended();
    if (signal === 'SIGKILL') continue;
    expect(code, running.lines.join('\n')).toBe(0);
    expect(waiting, 'steps that did not come').toEqual([]);
    return [...titles];
  }
}

/** A user with the rights that the command asks for in this direction, and no other. @returns the flags that make the command run as that user. */
async function asUserOf(direction: 'forward' | 'back'): Promise<string[]> {
  const rules = neededRights(direction).map(({ verb, group, resource, subresource }) => ({
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    verbs: [verb],
  }));
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: direction } };
  await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default', name: direction } });
  await admin.create({ ...rbac, kind: 'ClusterRole', ...{ rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: direction };
  const subjects = [{ kind: 'ServiceAccount', namespace: 'default', name: direction }];
  await admin.create({ ...rbac, kind: 'ClusterRoleBinding', ...{ roleRef, subjects } });
  return ['--kubeconfig', cluster.writeKubeconfig(direction, await serviceAccountToken(admin, 'default', direction))];
}

/** What this user has asked of the API server so far. */
function verbsOf(direction: 'forward' | 'back'): string[] {
  const asked = cluster.simulator.audit.requests.filter(({ user }) => user === `system:serviceaccount:default:${direction}`);
  return [...new Set(asked.map(({ verb, resource }) => (READING.has(verb) ? verb : `${verb} ${resource}`)))].toSorted();
}

/** What an API server under an upgrade answers this user. */
function disturb(direction: 'forward' | 'back'): void {
  const username = `system:serviceaccount:default:${direction}`;
  const inject = cluster.simulator.faults.inject.bind(cluster.simulator.faults);
  inject({ requests: { username, verb: 'patch' }, effect: { kind: 'answer', status: 500 } });
  inject({ requests: { username, verb: 'delete' }, effect: { kind: 'answer', status: 409 } });
  inject({ requests: { username, verb: 'delete' }, effect: { kind: 'close', when: 'after' } });
}

describe('vmdhcp-controller migrate, always against a simulated API server', () => {
  it('lists every missing right, and changes nothing', async () => {
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

  it('uninstall does not ask to delete our controller while Harvester’s is leader', async () => {
    const running = new LabProcess(process.execPath, [CONTROLLER_BIN, 'uninstall', '--kubeconfig', cluster.adminKubeconfig]);
    const { code } = await running.ended(90_000);
    const output = running.lines.join('\n');
    expect([code, output.includes('delete deployment')]).toEqual([1, false]);
    expect(output).toMatch(
      /Harvester's controller serves the pools, and beside it vm-dhcp-system\/\S+ of vmdhcp would .*: first remove our chart or manifest/,
    );
  });

  it('lists what it would do, writes nothing, and refuses to begin while there is a problem; as JSON for programs', async () => {
    const another = ownControllerDeployment('i');
    Object.assign(another.metadata, { name: 'another' });
    Object.assign(another.spec as object, { replicas: 0 });
    await admin.create(another);
    const refused = await migrate();
    await admin.delete('Deployment', `${CONTROLLER_NAMESPACE}/another`);
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(
      /problem: Deployment vm-dhcp-system\/\S+: there is another one: vm-dhcp-system\/\S+; delete one of them/,
    );
    expect(refused.output).toContain('1 problem: nothing was changed');
    forward = await asUserOf('forward');
    const { code, output } = await migrate('--dry-run', '--output', 'json', ...forward);
    expect(code, output).toBe(0);
    expect(verbsOf('forward')).toEqual(['create selfsubjectaccessreviews', 'create subjectaccessreviews', 'list']);
    expect(output).toContain('1. write everything that changes into the backup file');
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

  it('runs as the Job of examples/cluster/migrate.yaml, which has the rights that the command asks for and no other', async () => {
    const objects = readYaml(join(CLUSTER_EXAMPLES, 'migrate.yaml'));
    const job = objects.find(({ kind }) => kind === 'Job');
    // Volumes and Jobs are not simulated.
    for (const object of objects) if (!['Job', 'PersistentVolumeClaim'].includes(object.kind ?? '')) await admin.create(object);
    const rules = readList(
      objects.find(({ kind }) => kind === 'ClusterRole'),
      'rules',
    );
    const granted = rules.flatMap((rule) => {
      const [group, resource] = ['apiGroups', 'resources'].map((field) => readList(rule, field).join());
      return readList(rule, 'verbs').map((verb) => `${verb} ${group} ${resource}`);
    });
    const needed = (['forward', 'back'] as const).flatMap((direction) =>
      neededRights(direction).map(
        ({ verb, group, resource, subresource = '' }) => `${verb} ${group} ${join(resource, subresource)}`,
      ),
    );
    expect(granted.toSorted()).toEqual([...new Set(needed)].toSorted());
    const pod = readField(job?.spec, 'template', 'spec');
    const account = readText(pod, 'serviceAccountName') ?? '';
    const kubeconfig = cluster.writeKubeconfig('job', await serviceAccountToken(admin, CONTROLLER_NAMESPACE, account));
    const [command, ...flags] = readList(readList(pod, 'containers')[0], 'args').map(String);
    expect([command, flags]).toEqual(['migrate', ['--backup', '/backup/before.json']]);
    const { code, output } = await migrate('--dry-run', '--kubeconfig', kubeconfig);
    expect(code, output).toBe(0);
    expect(output).toContain('1. write everything that changes into the backup file');
  });

  it('ends when another run has begun', async () => {
    const theirs = 'back 2f1e';
    const annotations = { 'network.harvesterhci.io/migration-run': theirs };
    let claimed: Promise<unknown> | undefined;
    const running = start([], (line) => {
      if (titleOf(line) === undefined) return;
      claimed ??= admin.patch('CustomResourceDefinition', DEFINITION, { metadata: { annotations } });
    });
    const { code } = await running.ended();
    await claimed;
    expect(code).toBe(1);
    expect(running.lines.join('\n')).toContain(`another run of this command has begun since (${theirs}); this one ends`);
  });

  it('moves everything although it is killed and the API server fails, with the rights that it requests; addresses stay', async () => {
    const before = await addresses();
    disturb('forward');
    const steps = await migrateWithKills([/^move IPPool/, /^disable/], ...forward);
    expect(steps.length, steps.join('\n')).toBeGreaterThanOrEqual(4);
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
    const { metadata } = (await admin.get('CustomResourceDefinition', DEFINITION)) ?? {};
    expect(metadata?.annotations?.['network.harvesterhci.io/migration-run']).toMatch(/^(done )?forward /);
  });

  it('--remove-leftovers deletes what belongs to no Helm release, and nothing in a dry run', async () => {
    const labels = { 'app.kubernetes.io/name': UPSTREAM_NAME };
    const ofHelm = { ...labels, 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/instance': 'of-helm' };
    const role = (name: string, more: Readonly<Record<string, string>>) =>
      admin.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name, labels: more },
        ...{ rules: [] },
      });
    for (const [name, more] of Object.entries({ left: labels, helm: ofHelm, other: {} })) await role(name, more);
    const account = { namespace: UPSTREAM_NAMESPACE, name: 'left', labels };
    await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    const left = async () => {
      const roles = await Promise.all(['left', 'helm', 'other'].map((name) => admin.get('ClusterRole', name)));
      const accounts = await admin.get('ServiceAccount', `${UPSTREAM_NAMESPACE}/left`);
      return [...roles, accounts].flatMap((one) => one?.metadata.name ?? []);
    };
    const dry = await migrate('--remove-leftovers', '--dry-run');
    expect(dry.output).toContain('nothing to do');
    expect(dry.output).toContain('then delete ClusterRole left');
    expect(await left()).toEqual(['left', 'helm', 'other', 'left']);
    const { code, output } = await migrate('--remove-leftovers');
    expect(code, output).toBe(0);
    expect(output).toContain(`deleted ServiceAccount ${UPSTREAM_NAMESPACE}/left`);
    expect(output).toMatch(/left of Harvester's chart: 1 object; .* helm uninstall -n harvester-system of-helm/);
    expect(await left()).toEqual(['helm', 'other']);
    expect((await migrate('--remove-leftovers', '--back')).code).toBe(64);
  });

  it('goes back although it is killed and the API server fails, and lists what is lost; addresses stay', async () => {
    const before = await addresses();
    await admin.patch('IPPool', POOLS[0] ?? '', { spec: { conflictProbe: 'Disabled' } });
    const user = await asUserOf('back');
    const { code, output } = await migrate('--back', '--dry-run', ...user);
    expect(code, output).toBe(0);
    expect(output).toContain(`lost: IPPool ${POOLS[0]}: spec.conflictProbe`);
    expect(output).toContain('save it first: kubectl get ippools,vmnetcfg -A -o yaml');
    disturb('back');
    const steps = await migrateWithKills([/^release the server addresses/, /^remove our agents/], '--back', ...user);
    expect(steps.length, steps.join('\n')).toBeGreaterThanOrEqual(7);
    for (const key of POOLS) await served(key, 'agentPodRef');
    expect(await addresses()).toEqual(before);
    const left = (await admin.list('Pod')).filter(
      ({ metadata }) => metadata.labels?.['network.harvesterhci.io/agent-group'] !== undefined,
    );
    expect(left).toEqual([]);
    for (const kind of ['Role', 'RoleBinding', 'Lease'])
      expect((await admin.list(kind)).filter(({ metadata }) => metadata.name.startsWith('vm-dhcp-agent-'))).toEqual([]);
    const definition = await admin.get('CustomResourceDefinition', DEFINITION);
    expect(JSON.stringify(definition?.spec)).not.toContain('conflictProbe');
  });

  it('an earlier run that slept while a later one went all the way back ends, and changes nothing', async () => {
    let isAsleep = false;
    const earlier = start([], (line) => {
      if (isAsleep || !/^move IPPool/.test(titleOf(line) ?? '')) return;
      isAsleep = true;
      earlier.kill('SIGSTOP');
    });
    await waitFor('the earlier run to move a pool', async () => isAsleep);
    const later = await migrate('--back');
    expect(later.code, later.output).toBe(0);
    earlier.kill('SIGCONT');
    expect((await earlier.ended(90_000)).code).toBe(1);
    expect(earlier.lines.join('\n')).toMatch(/another run of this command has begun since \(done back .*\); this one ends/);
    expect(readField((await admin.get('Addon', ADD_ON))?.spec, 'enabled')).toBe(true);
  });

  it('after the way back, uninstall removes what is left of ours, and Harvester’s controller continues to serve', async () => {
    const labels = { 'network.harvesterhci.io/mac-address-memory': 'true' };
    await admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'tenant', name: 'left', labels } });
    const uninstall = async (...flags: readonly string[]) => {
      const running = new LabProcess(process.execPath, [
        CONTROLLER_BIN,
        'uninstall',
        '--kubeconfig',
        cluster.adminKubeconfig,
        ...flags,
      ]);
      const { code } = await running.ended(90_000);
      return { code, output: running.lines.join('\n') };
    };
    const served = async () => {
      const pools = (await admin.list('IPPool')).map(({ metadata, spec, status }) => [metadata.finalizers, spec, status]);
      const pods = (await admin.list('Pod')).filter((pod) => poolOfUpstreamPod(pod) !== undefined).map(keyOf);
      const networks = (await admin.list('NetworkAttachmentDefinition')).map(({ metadata }) => metadata.labels);
      return { pools, pods, networks };
    };
    const before = await served();
    expect(before.pods).toHaveLength(POOLS.length);
    const dry = await uninstall('--dry-run');
    expect([dry.code, dry.output]).toEqual([0, expect.stringContaining("Harvester's controller serves the pools")]);
    const { code, output } = await uninstall('--delete-data');
    expect(code, output).toBe(0);
    expect(output).toContain('delete ConfigMap tenant/left');
    expect(await served()).toEqual(before);
    expect(await admin.get('CustomResourceDefinition', DEFINITION)).toBeDefined();
  });
});
