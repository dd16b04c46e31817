/**
 * `kubectl vmdhcp why` as a process, about situations that a controller of this checkout made on an API server: each is over when the first broken
 * link is the one that a person would have to find.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressChain } from '@vmdhcp/explain';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ipPool,
  has as isInstalled,
  KubectlPlugin,
  needs,
  networkAttachment,
  serviceAccountToken,
  TEST_CLUSTER_VARIABLE,
  TestCluster,
  TestServer,
  type TestServerSettings,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const GROUP = 'vm-dhcp-agent-1';
const RBAC = 'rbac.authorization.k8s.io/v1';

let server: TestServer;
let cluster: TestCluster;
const plugin = new KubectlPlugin();
const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-why-'));

afterAll(() => {
  plugin.close();
  rmSync(folder, { recursive: true });
});

/** Each test has a namespace of its own, on the server of its part. */
function onServer(settings: TestServerSettings): void {
  beforeAll(async () => {
    server = await TestServer.open(settings);
  });
  beforeEach(async () => {
    cluster = await TestCluster.open(server);
  });
  afterEach(() => cluster.close());
  afterAll(() => server.close());
}

const keyOf = (name: string) => `${cluster.namespace}/${name}`;
const addNetwork = (name = 'net') => cluster.access.create(networkAttachment(keyOf(name)));

async function addPool(ipv4Config: object = {}, spec: Readonly<Record<string, unknown>> = {}, name = 'pool') {
  const range = { router: '10.1.0.1', pool: { start: '10.1.0.10', end: '10.1.0.10' }, ...ipv4Config };
  await cluster.access.create(ipPool(keyOf(name), { network: keyOf('net'), ipv4Config: range, spec }));
}

async function addMachine(name: string, macAddress: string | undefined, pin = ''): Promise<void> {
  const annotations = pin === '' ? {} : { 'static-ip.harvesterhci.io/default': pin };
  const one = { name: 'default', network: keyOf('net'), macAddress: macAddress ?? '' };
  await cluster.access.create(virtualMachineWith(keyOf(name), [one], annotations));
}

/** What KubeVirt reports of a virtual machine that runs. */
async function run(name: string, macAddress: string, reported: object): Promise<void> {
  const { metadata } = (await cluster.access.get('VirtualMachine', keyOf(name))) as KubernetesObject;
  const spec = virtualMachineWith(keyOf(name), [{ name: 'default', macAddress, network: keyOf('net') }]).spec as {
    readonly template: { readonly spec: object };
  };
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: metadata.uid ?? '' };
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: cluster.namespace, name, ownerReferences: [owner] },
    spec: spec.template.spec,
    status: { phase: 'Running', interfaces: [{ name: 'default', mac: macAddress, ...reported }] },
  });
}

/** A report of the leader of the agents: no pods run here. */
async function report(pools: Readonly<Record<string, unknown>>): Promise<void> {
  const labels = { 'network.harvesterhci.io/vm-dhcp-controller': 'agent', 'network.harvesterhci.io/agent-group': GROUP };
  const annotations = { 'network.harvesterhci.io/agent-report': JSON.stringify(pools) };
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'agent-1_x', leaseDurationSeconds: 60, renewTime };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: cluster.namespace, name: GROUP, labels, annotations },
    spec,
  };
  if ((await cluster.access.get('Lease', keyOf(GROUP))) === undefined) await cluster.access.create(lease);
  else await cluster.access.patch('Lease', keyOf(GROUP), { metadata: { annotations }, spec });
}

interface Answer {
  readonly code: number;
  readonly hasAddress: boolean;
  readonly requests: number;
  readonly chain?: AddressChain;
}

async function ask(subject: string, kubeconfig = cluster.kubeconfigPath): Promise<Answer> {
  const { code, stdout, stderr } = await plugin.run(kubeconfig, ['why', subject, '-n', cluster.namespace, '-o', 'json']);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Omit<Answer, 'code'>) };
}

/** `link reason` of each finding at the first broken or waiting link. */
function troubleOf({ chain }: Answer): string {
  const all = [chain?.links ?? [], ...(chain?.interfaces ?? []).map(({ links }) => links)].flat();
  const first = all.find(({ state }) => state === 'broken') ?? all.find(({ state }) => state === 'waiting');
  const reason = first?.findings.find(({ state }) => state === first.state)?.reason;
  return first === undefined ? 'none' : `${first.link} ${reason}`;
}

/** Waits until this is the first trouble of the virtual machine. */
async function isBroken(subject: string, trouble: string): Promise<Answer> {
  let last = '';
  const answer = await waitFor(
    `${trouble} of ${subject}`,
    async () => {
      const answered = await ask(subject);
      last = troubleOf(answered);
      return last === trouble ? answered : undefined;
    },
    20_000,
  ).catch((error: unknown) => {
    throw new Error(`the first trouble of ${subject} is: ${last}`, { cause: error });
  });
  expect(answer).toMatchObject({ code: 1, hasAddress: false });
  return answer;
}

async function hasAddress(subject: string): Promise<Answer> {
  return await waitFor(
    `the address of ${subject}`,
    async () => {
      const answered = await ask(subject);
      return answered.code === 0 ? answered : undefined;
    },
    20_000,
  );
}

describe('without agents', { timeout: 60_000 }, () => {
  onServer({ admission: 'on' });

  it('a virtual machine that has its address, by its name, its MAC address and its address; one that does not exist', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool();
    await addMachine('a', A);
    const { chain, requests } = await hasAddress('a');
    expect(chain?.interfaces).toMatchObject([{ interface: 'default', address: '10.1.0.10', macAddress: A }]);
    expect(requests).toBeLessThanOrEqual(7);
    for (const subject of [keyOf('a'), 'vm/a', A.toUpperCase().replaceAll(':', '-'), '10.1.0.10'])
      expect((await hasAddress(subject)).chain?.interfaces, subject).toMatchObject([{ address: '10.1.0.10' }]);
    await isBroken('nothing', 'virtual-machine VirtualMachineUnknown');
  });

  it('a pool that is full, a pinned address that another machine has, and one outside the pool', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool();
    await addMachine('a', A);
    await hasAddress('a');
    await addMachine('b', B);
    const { chain } = await isBroken('b', 'address PoolExhausted');
    const [found] = chain?.interfaces[0]?.links.find(({ link }) => link === 'address')?.findings ?? [];
    expect(found?.message).toContain('raise spec.ipv4Config.pool.end of the IPPool (up to 10.1.0.254)');
    await addMachine('c', '02:00:00:00:00:0c', '10.1.0.10');
    await isBroken('c', 'address AddressTaken');
    await addMachine('d', '02:00:00:00:00:0d', '10.1.0.99');
    await isBroken('d', 'address AddressOutsidePool');
  });

  it('no network, no pool, a paused pool, a MAC address that two have, and one that is not known yet', async () => {
    await cluster.startController('--no-agent');
    await addMachine('a', A);
    await isBroken('a', 'network NetworkUnknown');
    await addNetwork();
    await isBroken('a', 'pool NoPool');
    await addPool({ pool: { start: '10.1.0.10', end: '10.1.0.20' } }, { paused: true });
    await isBroken('a', 'pool Paused');
    await cluster.access.patch('IPPool', keyOf('pool'), { spec: { paused: false } });
    await hasAddress('a');
    await addMachine('b', A);
    await isBroken('b', 'interface MacAddressClaimedTwice');
    await addMachine('c', undefined);
    await isBroken('c', 'interface AwaitingMacAddress');
  });

  it('a guest operating system with another address, and with none', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool({ pool: { start: '10.1.0.10', end: '10.1.0.20' } });
    await addMachine('a', A);
    await hasAddress('a');
    await run('a', A, { ipAddress: '10.9.9.9', infoSource: 'domain, guest-agent' });
    await isBroken('a', 'instance InstanceHasAnotherAddress');
    await addMachine('b', B);
    await hasAddress('b');
    await run('b', B, { infoSource: 'domain, guest-agent' });
    await isBroken('b', 'instance InstanceHasNoAddress');
  });

  it.skipIf(process.env[TEST_CLUSTER_VARIABLE])('reads what a user may read, and names the rights that are missing', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool();
    await addMachine('a', A);
    await hasAddress('a');
    const kubeconfig = await userWith(['virtualmachines', 'virtualmachineinstances', 'virtualmachinenetworkconfigs']);
    const { code, stdout } = await plugin.run(kubeconfig, ['why', keyOf('a')]);
    expect(stdout).toContain(`${keyOf('a')}, interface default: has 10.1.0.10`);
    expect(stdout).toContain(
      `cannot get network-attachment-definitions.k8s.cni.cncf.io in namespace ${cluster.namespace}: ask for the verb get on it`,
    );
    expect(stdout).toContain('cannot list ippools.network.harvesterhci.io in all namespaces: ask for the verb list on it');
    expect(code).toBe(0);
    const nothing = await userWith([], 'unknown-user');
    const blind = await plugin.run(nothing, ['why', keyOf('a')]);
    expect(blind.stdout).toContain(`cannot get virtualmachines.kubevirt.io in namespace ${cluster.namespace}`);
    expect(blind.code).toBe(77);
  });

  it.skipIf(!isInstalled('kubectl'))(`kubectl vmdhcp why, as a person types it (${needs('kubectl')})`, async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool();
    await addMachine('a', A);
    await hasAddress('a');
    await addMachine('b', B);
    await isBroken('b', 'address PoolExhausted');
    const words = ['why', 'b', '-n', cluster.namespace];
    const { code, stdout, stderr } = await plugin.run(cluster.kubeconfigPath, words, 'kubectl');
    expect({ code, stderr: stderr.replace(/^exit status 1\n|^error: exit status 1\n/, '') }).toEqual({ code: 1, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`${keyOf('b')}, interface default: has no address on network ${keyOf('net')}: PoolExhausted`);
    expect(lines.find((line) => line.includes('<- broken here'))).toMatch(/✗ address .* none is recorded for the interface/);
    expect(stdout).toContain('what to do: Raise `spec.ipv4Config.pool.end` of the IPPool or lower `start`');
  });
});

describe('on what a server without admission has', { timeout: 60_000 }, () => {
  onServer({ admission: 'off' });

  it('an invalid pool, and a network that an older pool serves', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool({ pool: { start: '10.1.0.10', end: '10.1.0.10', exclude: ['10.1.1.9'] } });
    await addMachine('a', A);
    await isBroken('a', 'pool PoolInvalid');
  });
});

describe('with agents', { timeout: 60_000 }, () => {
  onServer({ admission: 'on' });

  it('no leader, a leader without the interface, one that serves; a rogue DHCP server beside it', async () => {
    await cluster.startController('--agent-replicas', '0', '--image', 'example.com/vmdhcp-agent:v1');
    await addNetwork();
    await addPool();
    await addMachine('a', A);
    await isBroken('a', 'leader NotLeading');
    await report({ [keyOf('pool')]: { serving: false, reason: 'InterfaceMissing', message: 'the pod has no interface net1' } });
    const { chain } = await isBroken('a', 'report InterfaceMissing');
    expect(chain?.interfaces[0]).toMatchObject({ address: '10.1.0.10', brokenAt: 'report' });
    const rogueServers = [{ address: '10.1.0.66', macAddress: B }];
    await report({ [keyOf('pool')]: { serving: true, rogueServers } });
    const served = await hasAddress('a');
    const link = served.chain?.interfaces[0]?.links.find((one) => one.link === 'report');
    expect(link).toMatchObject({ state: 'note', findings: [{ reason: 'RogueServer' }] });
    await cluster.access.delete('Lease', keyOf(GROUP));
  });
});

/** The kubeconfig of a user who may get these resources in the namespace, and nothing else. */
async function userWith(resources: readonly string[], name = 'reader'): Promise<string> {
  const { access, namespace, simulator } = cluster;
  const metadata = { namespace, name };
  await access.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const rules = resources.length === 0 ? [] : [{ apiGroups: ['*'], resources, verbs: ['get'] }];
  await access.create({ apiVersion: RBAC, kind: 'Role', metadata, rules } as KubernetesObject);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  await access.create({ apiVersion: RBAC, kind: 'RoleBinding', metadata, roleRef, subjects } as KubernetesObject);
  const token = await serviceAccountToken(access, namespace, name);
  const path = join(folder, `${name}.kubeconfig`);
  writeFileSync(path, simulator?.kubeconfig({ name, token }) ?? '', { mode: 0o600 });
  return path;
}
