/**
 * Each right that Wake-on-LAN adds to the controller is used, and no other one is asked for: the controller of manifests/vmdhcp-wake-on-lan.yaml, with its arguments, variables
 * and rights, from a WolConfig and its agents to virtual machines that are started and unpaused, and to a command that leaves nothing of it.
 * Always against a simulated API server, whatever KUBECONFIG names.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fnv1a64, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import type { DeliveryOutcome } from '@vmdhcp/wake-on-lan';
import { WolClient } from '@vmdhcp/wake-on-lan/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterAccess,
  CONTROLLER_BIN,
  compareRights,
  describeRight,
  InstalledProgram,
  installedFor,
  installedWith,
  KubeVirt,
  LabProcess,
  PrivateCluster,
  rightsIn,
  rightsOf,
  serviceAccountToken,
  waitFor,
} from '../src/index.js';

const AGENTS = 'vm-dhcp-agents';
const CONTROLLER = { namespace: 'vm-dhcp-system', name: 'vm-dhcp-controller' };
const WAKE_AGENT = 'vm-dhcp-wake-on-lan-agent';
const DEFINITION = 'wolconfigs.wol.pillon.org';
const SECRETS = ['vmdhcp-wake-on-lan-ca', 'vmdhcp-wake-on-lan-tls', 'vmdhcp-wake-on-lan-agent-tls'];
const DAEMON_SET = `${AGENTS}/wol-agent-office`;
const SHARDS = 16;

let cluster: PrivateCluster;
let admin: ClusterAccess;
let kubevirt: KubeVirt;
let controller: InstalledProgram;
let agent: WolClient | undefined;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-rights-of-wake-on-lan-'));
  cluster = await PrivateCluster.start(['crds.yaml', 'Wake-on-LAN'], {
    nodes: [{ name: 'node-1', labels: {} }],
    // As OpenShift does: what a plain cluster does not ask for gives nothing there.
    ownerReferencePermissions: true,
  });
  admin = cluster.admin;
  kubevirt = await KubeVirt.start(cluster.simulator);
  await startController();
});

afterAll(async () => {
  agent?.stop();
  await controller?.process.stop();
  await kubevirt?.stop();
  await cluster?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** As its Deployment describes it. Ready means too that it listens with a certificate. */
async function startController(): Promise<void> {
  const [deployment] = installedWith('vmdhcp-wake-on-lan.yaml').filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER.name,
  );
  const spec = readField(deployment?.spec, 'template', 'spec');
  controller = await InstalledProgram.start(cluster.place, { namespace: CONTROLLER.namespace, name: 'controller', spec });
  await controller.ready();
  await controller.process.line('deciding about wake-ups');
}

const gone = (kind: string, key: string) =>
  waitFor(`${kind} ${key} to go`, async () => (await admin.get(kind, key)) === undefined);

/** A machine whose owner wrote its address, or left that to KubeVirt. */
async function createMachine(name: string, macAddress?: string): Promise<void> {
  const interfaces = [{ name: 'default', masquerade: {}, ...(macAddress !== undefined && { macAddress }) }];
  const template = { spec: { domain: { devices: { interfaces } }, networks: [{ name: 'default', pod: {} }] } };
  const metadata = { namespace: 'default', name, labels: { wake: macAddress === undefined ? 'no' : 'yes' } };
  await admin.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata,
    spec: { runStrategy: 'Manual', template },
  });
}

async function request(resource: string, key: string, subresource: string): Promise<void> {
  const [namespace, name] = key.split('/', 2);
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${resource}/${name}/${subresource}`;
  await admin.connection.request({ method: 'PUT', path, body: {} });
}

/** As an agent does, with the certificate that its pod mounts. */
async function report(macAddress: string): Promise<DeliveryOutcome> {
  if (agent === undefined) {
    const secret = await waitFor('the certificate of agents', () =>
      admin.get('Secret', `${AGENTS}/vmdhcp-wake-on-lan-agent-tls`),
    );
    for (const file of ['tls.crt', 'tls.key', 'ca.crt'])
      writeFileSync(join(folder, file), Buffer.from(readText(secret, 'data', file) ?? '', 'base64'));
    const { listen: manager } = controller;
    const unheard = { observe: () => undefined, onReachable: () => undefined, onAddresses: () => undefined };
    agent = new WolClient({ manager, nodeName: 'node-1', tlsDirectory: folder, ...unheard });
    await agent.start();
  }
  return await agent.report({
    ...{ macAddress, nodeName: 'node-1', sender: '192.0.2.7', senderPort: 9, packetSize: 102 },
    heardAtMs: Date.now(),
  });
}

const answerTo = (macAddress: string) =>
  waitFor(`an answer for ${macAddress}`, async () => {
    const outcome = await report(macAddress);
    return outcome.kind === 'answered' && outcome.answer.status !== 'vm-not-found' ? outcome.answer : undefined;
  });

describe('the rights of Wake-on-LAN, always against a simulated API server', () => {
  it('a definition of an earlier version is replaced, and certificates that are broken are made again', async () => {
    await controller.process.stop();
    const versions = readList((await admin.get('CustomResourceDefinition', DEFINITION))?.spec, 'versions') as object[];
    await admin.patch('CustomResourceDefinition', DEFINITION, {
      spec: { versions: versions.map((version) => ({ ...version, additionalPrinterColumns: [] })) },
    });
    const before = new Map<string, unknown>();
    for (const name of SECRETS) {
      const secret = await admin.get('Secret', `${AGENTS}/${name}`);
      const data = (readField(secret, 'data') ?? {}) as object;
      before.set(name, data);
      await admin.patch('Secret', `${AGENTS}/${name}`, { data: Object.fromEntries(Object.keys(data).map((key) => [key, ''])) });
    }
    await startController();
    const { spec } = (await admin.get('CustomResourceDefinition', DEFINITION)) ?? {};
    expect(readList(readList(spec, 'versions')[0], 'additionalPrinterColumns').length).toBeGreaterThan(0);
    await waitFor('the certificate of agents', async () =>
      readText(await admin.get('Secret', `${AGENTS}/vmdhcp-wake-on-lan-agent-tls`), 'data', 'tls.crt'),
    );
    for (const name of SECRETS)
      expect(readField(await admin.get('Secret', `${AGENTS}/${name}`), 'data'), name).not.toEqual(before.get(name));
  });

  it('a WolConfig has agents on the nodes, without a token; what a person edits is restored', async () => {
    await createMachine('stopped', '02:00:00:00:00:0a');
    await createMachine('paused', '02:00:00:00:00:0b');
    const spec = { discoveryMode: 'LabelSelector', vmSelector: { matchLabels: { wake: 'yes' } }, unpause: true };
    await admin.create({ apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name: 'office' }, spec });
    const daemonSet = await admin.waitForObject('DaemonSet', DAEMON_SET, () => true);
    expect(readField(daemonSet.spec, 'template', 'spec')).toMatchObject({
      serviceAccountName: WAKE_AGENT,
      automountServiceAccountToken: false,
    });
    const status = { managedVMs: 2, agentStatus: { desiredNumberScheduled: 1 } };
    const hasStatus = (config: KubernetesObject) =>
      readField(config.status, 'managedVMs') === status.managedVMs &&
      readField(config.status, 'agentStatus', 'desiredNumberScheduled') === 1;
    await admin.waitForObject('WolConfig', 'office', hasStatus);
    await admin.patch('DaemonSet', DAEMON_SET, { spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } } });
    await admin.waitForObject(
      'DaemonSet',
      DAEMON_SET,
      (one) => readField(one.spec, 'template', 'spec', 'terminationGracePeriodSeconds') === 10,
    );
  });

  it('a magic packet starts a machine, another one unpauses a machine', async () => {
    await kubevirt.untilStatus('default/stopped', 'Stopped');
    await request('virtualmachines', 'default/paused', 'start');
    await kubevirt.untilStatus('default/paused', 'Running');
    await request('virtualmachineinstances', 'default/paused', 'pause');
    await kubevirt.untilStatus('default/paused', 'Paused');
    expect(await answerTo('02:00:00:00:00:0a')).toMatchObject({ status: 'vm-start-initiated' });
    expect(await answerTo('02:00:00:00:00:0b')).toMatchObject({ machine: { name: 'paused' } });
    await kubevirt.untilStatus('default/stopped', 'Running');
    await kubevirt.untilStatus('default/paused', 'Running');
    const reasons = async () => (await admin.list('Event')).map((event) => readText(event, 'reason'));
    await waitFor('both Events', async () => {
      const written = await reasons();
      return written.includes('WakeUpStarted') && written.includes('WakeUpUnpaused');
    });
  });

  it('addresses that KubeVirt chose are remembered in each ConfigMap, and forgotten with their machines', async () => {
    const names = machinesOfAllShards();
    await Promise.all(names.map((name) => createMachine(name)));
    for (const name of names) await kubevirt.untilStatus(`default/${name}`, 'Stopped');
    await Promise.all(names.map((name) => request('virtualmachines', `default/${name}`, 'start')));
    const entries = async () =>
      (await admin.list('ConfigMap')).flatMap(({ metadata, ...configMap }) =>
        metadata.name.startsWith('vmdhcp-mac-addresses-') ? Object.keys(readField(configMap, 'data') ?? {}) : [],
      );
    await waitFor('all of them', async () => (await entries()).length === SHARDS);
    await Promise.all(names.map((name) => admin.delete('VirtualMachine', `default/${name}`)));
    await waitFor('all of them to be forgotten', async () => (await entries()).length === 0);
  });

  it('a WolConfig that is deleted has no agents', async () => {
    await admin.delete('WolConfig', 'office');
    await gone('DaemonSet', DAEMON_SET);
  });

  it('each right that Wake-on-LAN adds was used, and no request was refused', async () => {
    const without = new Set(rightsIn(installedFor('controller'), CONTROLLER).map(describeRight));
    const granted = await rightsOf(admin, CONTROLLER);
    const added = granted.filter((right) => !without.has(describeRight(right)));
    // Creating ConfigMaps is needed for records of assignments too.
    expect(added).toHaveLength(45);
    expect(compareRights(added, cluster.simulator.audit.requests, CONTROLLER)).toEqual({ unused: [], refused: [] });
  });

  it('and agents have none at all, and requested nothing', async () => {
    const account = { namespace: AGENTS, name: WAKE_AGENT };
    expect(await rightsOf(admin, account)).toEqual([]);
    const user = `system:serviceaccount:${AGENTS}:${WAKE_AGENT}`;
    expect(cluster.simulator.audit.requests.filter((one) => one.user === user)).toEqual([]);
  });
});

/** Names of machines, one for each ConfigMap of the memory. */
function machinesOfAllShards(): readonly string[] {
  const names = new Map<bigint, string>();
  for (let index = 0; names.size < SHARDS; index++) names.set(fnv1a64(`default/vm-${index}`) % BigInt(SHARDS), `vm-${index}`);
  return [...names.values()];
}

describe('what the token of a controller with Wake-on-LAN can do, always against a simulated API server', () => {
  const MACHINE = '/namespaces/default/virtualmachines/stopped';

  interface Asked {
    readonly method?: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
    readonly path: string;
    readonly body?: object;
  }

  async function status(access: ClusterAccess, { method = 'GET', path, body }: Asked): Promise<number> {
    try {
      await access.connection.request({ method, path, ...(body !== undefined && { body }) });
      return 200;
    } catch (error) {
      if (error instanceof ApiRequestError && error.status !== undefined) return error.status;
      throw error;
    }
  }

  const FORBIDDEN: readonly (readonly [what: string, asked: Asked])[] = [
    [
      'change a virtual machine',
      { method: 'PATCH', path: `/apis/kubevirt.io/v1${MACHINE}`, body: { spec: { runStrategy: 'Always' } } },
    ],
    ['delete a virtual machine', { method: 'DELETE', path: `/apis/kubevirt.io/v1${MACHINE}` }],
    ['stop a virtual machine', { method: 'PUT', path: `/apis/subresources.kubevirt.io/v1${MACHINE}/stop`, body: {} }],
    ['restart a virtual machine', { method: 'PUT', path: `/apis/subresources.kubevirt.io/v1${MACHINE}/restart`, body: {} }],
    [
      'allow wake-ups',
      { method: 'POST', path: '/apis/wol.pillon.org/v1beta1/wolconfigs', body: { metadata: { name: 'mine' }, spec: {} } },
    ],
    ['change who may be woken', { method: 'PATCH', path: '/apis/wol.pillon.org/v1beta1/wolconfigs/any', body: { spec: {} } }],
    ['list Secrets of agents', { path: `/api/v1/namespaces/${AGENTS}/secrets` }],
    ['read another Secret of agents', { path: `/api/v1/namespaces/${AGENTS}/secrets/password` }],
    ['read its own names elsewhere', { path: `/api/v1/namespaces/kube-system/secrets/${SECRETS[0]}` }],
    [
      'change the authority that pods trust',
      { method: 'PATCH', path: `/api/v1/namespaces/${AGENTS}/configmaps/kube-root-ca.crt`, body: { data: {} } },
    ],
    ['list ConfigMaps elsewhere', { path: '/api/v1/namespaces/kube-system/configmaps' }],
    [
      'create DaemonSets elsewhere',
      { method: 'POST', path: '/apis/apps/v1/namespaces/default/daemonsets', body: { metadata: { name: 'mine' }, spec: {} } },
    ],
  ];

  it('neither changes, stops nor deletes virtual machines, nor who may be woken, and reads no other Secrets', async () => {
    const access = await cluster.open('as-controller', await serviceAccountToken(admin, CONTROLLER.namespace, CONTROLLER.name));
    for (const [what, asked] of FORBIDDEN) expect(await status(access, asked), what).toBe(403);
    expect(await status(access, { path: `/apis/kubevirt.io/v1${MACHINE}` })).toBe(200);
  });

  it('an agent of Wake-on-LAN reads and writes nothing, also with a token of its ServiceAccount', async () => {
    const access = await cluster.open('as-wake-agent', await serviceAccountToken(admin, AGENTS, WAKE_AGENT));
    const start = { method: 'PUT', path: `/apis/subresources.kubevirt.io/v1${MACHINE}/start`, body: {} } as const;
    const own = SECRETS.map((name) => ['a Secret', { path: `/api/v1/namespaces/${AGENTS}/secrets/${name}` }] as const);
    for (const [what, asked] of [
      ...FORBIDDEN,
      ...own,
      ['start', start] as const,
      ['WolConfigs', { path: '/apis/wol.pillon.org/v1beta1/wolconfigs' }] as const,
    ])
      expect(await status(access, asked), what).toBe(403);
  });
});

describe('vmdhcp-controller uninstall with Wake-on-LAN, always against a simulated API server', () => {
  const uninstall = async (...parameters: readonly string[]) => {
    const flags = ['--kubeconfig', cluster.adminKubeconfig, ...parameters];
    const running = new LabProcess(process.execPath, [CONTROLLER_BIN, 'uninstall', ...flags]);
    const { code } = await running.ended(50_000);
    return { code, lines: running.lines };
  };

  it('ends its agents, then deletes their Secrets and ConfigMaps; WolConfigs stay for a successor', async () => {
    await admin.create({ apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name: 'office' }, spec: {} });
    await admin.waitForObject('DaemonSet', DAEMON_SET, () => true);
    const podsOfAgents = async () => (await admin.list('Pod')).filter(({ metadata }) => metadata.labels?.['app'] === 'wol-agent');
    await waitFor('a pod', async () => (await podsOfAgents()).length > 0);
    agent?.stop();
    agent = undefined;
    await controller.process.stop();
    const { code, lines } = await uninstall();
    expect(code, lines.join('\n')).toBe(0);
    const at = (text: string) => lines.findIndex((line) => line.includes(text));
    expect(at(`delete DaemonSet ${DAEMON_SET}`)).toBeGreaterThanOrEqual(0);
    for (const name of SECRETS) expect(at(`delete Secret ${AGENTS}/${name}`), name).toBeGreaterThan(at('delete DaemonSet'));
    expect(at('delete ConfigMap')).toBeGreaterThan(at('delete DaemonSet'));
    expect(lines.at(-1)).toContain('1 WolConfig');
    expect(lines.at(-1)).toContain('65 ConfigMaps with records of assignments');
    expect([await admin.list('DaemonSet'), await podsOfAgents()]).toEqual([[], []]);
    const all = [...(await admin.list('Secret')), ...(await admin.list('ConfigMap'))].map(({ metadata }) => metadata.name);
    // Records of assignments stay, without --delete-data.
    const left = all.filter((name) => !name.startsWith('vmdhcp-audit'));
    expect(left.filter((name) => name.startsWith('vmdhcp-'))).toEqual([]);
    expect(await admin.get('WolConfig', 'office')).toBeDefined();
  });

  it('with --delete-data deletes WolConfigs and their definition too', async () => {
    expect((await uninstall('--delete-data')).code).toBe(0);
    const definitions = (await admin.list('CustomResourceDefinition')).map(({ metadata }) => metadata.name);
    expect(definitions).not.toContain(DEFINITION);
    const left = (await admin.list('ConfigMap')).map(({ metadata }) => metadata.name);
    expect(left.filter((name) => name.startsWith('vmdhcp-'))).toEqual([]);
    expect(await uninstall('--delete-data')).toEqual({ code: 0, lines: ['nothing to remove'] });
  });
});
