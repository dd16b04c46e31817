/** `kubectl vmdhcp top`, as a process with the rights of examples/cluster/packets.yaml, that asks programs in simulated pods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import type { ExecInPod } from '@vmdhcp/kube-simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTER_EXAMPLES,
  compareRights,
  ipPool,
  type KubectlOutput,
  KubectlPlugin,
  networkAttachment,
  PrivateCluster,
  rightsOf,
  serviceAccountToken,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const NAMESPACE = 'vm-dhcp-agents';
const LABELS = { 'network.harvesterhci.io/vm-dhcp-controller': 'agent' };
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
/** For this MAC address, the program ignores the end of its standard input. */
const HANGS = '02:00:00:00:00:0c';
const POOL = 'default/net-48';

const OFFERED = { received: 'DISCOVER', from: '0.0.0.0', answer: 'OFFER 10.1.0.10', reason: null };

const client = (mac: string, discovers: number) => ({
  mac,
  pool: POOL,
  interface: 'net1',
  messages: { DISCOVER: discovers },
  answers: { OFFER: 2 },
  unanswered: { 'unknown-client': discovers - 2 },
  lastAtMs: Date.now() - 12_000,
  last: [20_000, 12_000].map((ageMs) => ({ ...OFFERED, atMs: Date.now() - ageMs })),
});

/** `vmdhcp-agent capture`: three packets, then it waits for the end of its standard input, unless three were asked for; or it dies within a block. */
const CAPTURE = `
const block = (type, body) => {
  const octets = Buffer.alloc(12 + body.length);
  octets.writeUInt32LE(type, 0);
  body.copy(octets, 8);
  for (const at of [4, octets.length - 4]) octets.writeUInt32LE(octets.length, at);
  return octets;
};
const packet = block(6, Buffer.alloc(40, 7));
const statistics = Buffer.alloc(28);
statistics.writeUInt16LE(5, 12);
statistics.writeUInt16LE(8, 14);
statistics.writeUInt32LE(2, 16);
const words = process.argv.slice(1);
const valueOf = (name) => words[words.indexOf(name) + 1];
const isFile = words.includes('--write');
if (isFile) process.stdout.write(block(0x0a0d0d0a, Buffer.from('4d3c2b1a01000000ffffffffffffffff', 'hex')));
for (let count = 0; count < 3; count++) process.stdout.write(isFile ? packet : 'DISCOVER \\u001b[31m\\u009b' + words.join(' ') + '\\n');
const end = () => {
  if (isFile) process.stdout.write(block(5, statistics));
  process.exitCode = 0;
  process.stdin.destroy();
};
if (valueOf('--mac') === '${HANGS}') setInterval(() => undefined, 1000);
else if (valueOf('--mac') === '${B}') process.stdout.write(packet.subarray(0, 20), () => { console.error('out of\\u001bmemory'); process.exit(1); });
else if (valueOf('--packets') === '3') end();
else process.stdin.resume().once('end', end);
`;

/** `vmdhcp-agent clients --json`. */
const PRINTED = {
  agent: 'agent-1',
  sinceMs: Date.now() - 60_000,
  pools: [
    {
      ...{ pool: POOL, interface: 'net1', lastAtMs: Date.now() - 12_000 },
      ...{ messages: { DISCOVER: 12 }, answers: { OFFER: 4 }, unanswered: { 'unknown-client': 8 } },
    },
  ],
  clients: [client(A, 3), client(B, 9)],
};

/** What stands for the program of the agent, by the pod. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'agent-1': `console.log(${JSON.stringify(JSON.stringify(PRINTED))})`,
  'agent-old': `console.error("error: unknown command 'clients'"); process.exit(64)`,
  'agent-busy': `console.error('the agent does not run: start it'); process.exit(69)`,
};
const asked: string[] = [];

const execInPod: ExecInPod = ({ pod, command, container }) => {
  const { name = '' } = pod.metadata;
  asked.push(`${name} ${container} ${command.slice(2).join(' ')}`);
  const words = command.slice(2);
  const program = words[0] === 'capture' ? CAPTURE : (PROGRAMS[name] ?? '');
  const child = spawn(process.execPath, ['-e', program, '--', ...words], { stdio: 'pipe' });
  const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137);
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: () => child.kill('SIGKILL') };
};

let cluster: PrivateCluster;
const plugin = new KubectlPlugin();

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml'], { nodes: [{ name: 'node-1' }], execInPod });
  await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await cluster.defineKinds();
  for (const name of ['net-48', 'agent-busy', 'agent-gone', 'agent-old', 'agent-stale']) await createPool(name);
  for (const name of ['reader.yaml', 'packets.yaml']) await cluster.admin.applyFile(join(CLUSTER_EXAMPLES, name));
  for (const name of Object.keys(PROGRAMS)) await createPod(name, name === 'agent-1' ? ['sidecar', 'agent'] : ['agent']);
  for (const name of ['agent-1', 'agent-busy', 'agent-gone', 'agent-old']) await createLease(name, new Date());
  await createLease('agent-stale', new Date(0));
});

afterAll(async () => {
  plugin.close();
  await cluster?.close();
});

async function createPod(name: string, containers: readonly string[]): Promise<void> {
  const spec = { containers: containers.map((container) => ({ name: container, image: 'agent' })) };
  await cluster.admin.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name },
    spec,
  } as KubernetesObject);
  await cluster.admin.waitForObject('Pod', `${NAMESPACE}/${name}`, ({ status }) => JSON.stringify(status).includes('"running"'));
}

/** With the status that a controller writes. */
async function createPool(name: string): Promise<void> {
  await cluster.admin.create(ipPool(`default/${name}`));
  const agentDeploymentRef = { namespace: NAMESPACE, name: `group-of-${name}` };
  await patchStatus('IPPool', `default/${name}`, { agentDeploymentRef });
}

async function createLease(pod: string, renewed: Date, namespace = NAMESPACE): Promise<void> {
  const pool = pod === 'agent-1' || namespace !== NAMESPACE ? POOL : `default/${pod}`;
  const annotations = { 'network.harvesterhci.io/agent-report': JSON.stringify({ [pool]: { serving: true } }) };
  const metadata = { namespace, name: `group-of-${pod}`, labels: LABELS, annotations };
  const renewTime = renewed.toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: `${pod}_x`, leaseDurationSeconds: 3600, renewTime };
  await cluster.admin.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } as KubernetesObject);
}

/** A kubeconfig of a ServiceAccount with these roles. */
async function account(name: string, roles: readonly ('reader' | 'packets')[]): Promise<string> {
  const subject = { namespace: NAMESPACE, name };
  await cluster.admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: subject });
  for (const role of roles) {
    const isEverywhere = role === 'reader';
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: isEverywhere ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name: `${name}-${role}`, ...(isEverywhere ? {} : { namespace: NAMESPACE }) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: isEverywhere ? 'ClusterRole' : 'Role', name: `vmdhcp-${role}` },
      subjects: [{ kind: 'ServiceAccount', ...subject }],
    };
    await cluster.admin.create(binding as KubernetesObject);
  }
  const token = await serviceAccountToken(cluster.admin, NAMESPACE, name);
  return plugin.write(cluster.simulator.kubeconfig({ name, token }), name);
}

/** Has a program print the token, as those of clouds do: that is left to @kubernetes/client-node. */
function withCredentialPlugin(path: string): void {
  const text = readFileSync(path, 'utf8');
  const token = /token: *(\S+)/.exec(text)?.[1] ?? '';
  const api = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion: api, kind: 'ExecCredential', status: { token } });
  const exec = { apiVersion: api, command: 'echo', args: [credential], interactiveMode: 'Never' };
  writeFileSync(path, text.replace(/token: *\S+/, `exec: ${JSON.stringify(exec)}`), { mode: 0o600 });
}

const cells = ({ stdout }: KubectlOutput) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('kubectl vmdhcp top', () => {
  it('queries the leader of each group with the rights of packets.yaml, and uses each of them', async () => {
    const kubeconfig = await account('operator', ['reader', 'packets']);
    const answer = await plugin.run(kubeconfig, ['top']);
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect(cells(answer)).toEqual([
      ['POOL', 'CLIENTS', 'PACKETS', 'ANSWERS', 'REFUSED', 'LAST', 'REASON', 'AGENT'],
      [POOL, '2', '12', '4', '8', expect.stringMatching(/^\d+s$/), 'unknown-client', `${NAMESPACE}/agent-1`],
      ['default/agent-busy', '-', '-', '-', '-', '-', 'the agent does not run: start it', `${NAMESPACE}/agent-busy`],
      ['default/agent-gone', '-', '-', '-', '-', '-', expect.stringContaining('no longer exists'), `${NAMESPACE}/agent-gone`],
      ['default/agent-old', '-', '-', '-', '-', '-', expect.stringContaining('of an earlier version'), `${NAMESPACE}/agent-old`],
      ['default/agent-stale', '-', '-', '-', '-', '-', 'no pod of the group is leader', '-'],
      [''],
      ['MAC', 'POOL', 'PACKETS', 'ANSWERS', 'REFUSED', 'LAST', 'LASTPACKET'],
      [B, POOL, '9', '2', '7', expect.stringMatching(/^\d+s$/), 'DISCOVER: OFFER 10.1.0.10'],
      [A, POOL, '3', '2', '1', expect.stringMatching(/^\d+s$/), 'DISCOVER: OFFER 10.1.0.10'],
    ]);
    // The API server asked which container is meant.
    expect(asked).toContain('agent-1 agent clients --json');
    const who = { namespace: NAMESPACE, name: 'operator' };
    const ofPods = (await rightsOf(cluster.admin, who)).filter(({ resource }) => resource === 'pods/exec');
    expect(ofPods.map(({ verb, namespace }) => [verb, namespace])).toEqual([
      ['get', NAMESPACE],
      ['create', NAMESPACE],
    ]);
    expect(compareRights(ofPods, cluster.simulator.audit.requests, who)).toEqual({ unused: [], refused: [] });
  });

  it('for one pool, as data, as names, in another order, with a kubeconfig whose token a program prints', async () => {
    const kubeconfig = await account('other', ['reader', 'packets']);
    const words = ['top', '--pool', 'net-48', '--limit', '1', '--sort', 'name'];
    expect((await plugin.run(kubeconfig, [...words, '-o', 'name'])).stdout).toBe(`${A}\n`);
    expect(await plugin.run(kubeconfig, ['top', '--pool', 'none'])).toMatchObject({
      code: 1,
      stderr: 'kubectl vmdhcp: there is no IPPool default/none: kubectl vmdhcp pools -A\n',
    });
    expect(await plugin.run(kubeconfig, ['top', '--limit', '-1'])).toMatchObject({ code: 64 });
    withCredentialPlugin(kubeconfig);
    const { stdout } = await plugin.run(kubeconfig, [...words, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ pools: [{ pool: POOL, clients: 2, refusals: 8 }], clients: [{ macAddress: A }] });
    expect(asked.at(-1)).toBe(`agent-1 agent clients --json --pool ${POOL}`);
  });

  it('without the right: rows with the reason, the rule to ask for, and exit code 77', async () => {
    const { code, stdout, stderr } = await plugin.run(await account('reads', ['reader']), ['top', '--pool', POOL, '-o', 'json']);
    const rule =
      'ask for a Role in namespace vm-dhcp-agents with the rule {apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}';
    const message = `cannot execute commands in pods (pods/exec) of namespace ${NAMESPACE}: ${rule}`;
    expect([code, stderr]).toEqual([77, `kubectl vmdhcp: ${message}\n`]);
    expect(JSON.parse(stdout)).toMatchObject({ pools: [{ pool: POOL, error: message }], clients: [] });
    const nothing = await plugin.run(await account('nothing', []), ['top']);
    expect(nothing).toMatchObject({ code: 77, stderr: expect.stringContaining('cannot list leases') as string });
  });

  it('--watch continues until it is told to end', async () => {
    const words = ['top', '--watch', '--interval', '1', '--pool', POOL, '-o', 'name', '--limit', '1'];
    const running = plugin.start(await account('watches', ['reader', 'packets']), words);
    await waitFor('two answers', () => (running.lines.length >= 2 ? true : undefined));
    running.kill('SIGTERM');
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(new Set(running.lines)).toEqual(new Set([B]));
  });
});

async function patchStatus(kind: string, key: string, status: object): Promise<void> {
  expect(await cluster.admin.client(kind).patchStatus({ key }, { status })).toMatchObject({ ok: true });
}

/** A virtual machine that runs without a guest agent, with all that a controller and agents write for it. */
async function createMachine(): Promise<void> {
  const { admin } = cluster;
  const labels = { 'network.harvesterhci.io/ippool-namespace': 'default', 'network.harvesterhci.io/ippool-name': 'net-48' };
  const network = networkAttachment(POOL);
  await admin.create({ ...network, metadata: { ...network.metadata, labels } });
  const conditions = ['Registered', 'CacheReady', 'AgentReady'].map((type) => ({ type, status: 'True' }));
  const agentDeploymentRef = { namespace: NAMESPACE, name: 'group-of-agent-1' };
  const ipv4 = { allocated: { '10.1.0.10': A }, used: 1, available: 89 };
  await patchStatus('IPPool', POOL, { ipv4, agentDeploymentRef, conditions });
  const machine = virtualMachine('default/web', A, POOL);
  await admin.create(machine);
  const metadata = { namespace: 'default', name: 'web' };
  const spec = readField(machine.spec, 'template', 'spec');
  const status = { phase: 'Running', interfaces: [{ name: 'default', mac: A }] };
  await admin.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    spec,
    status,
  } as KubernetesObject);
  const entry = { networkName: POOL, macAddress: A };
  const kind = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'VirtualMachineNetworkConfig' };
  await admin.create({ ...kind, metadata, spec: { vmName: 'web', networkConfigs: [entry] } } as KubernetesObject);
  const networkConfigs = [{ ...entry, allocatedIPAddress: '10.1.0.10', state: 'Allocated' }];
  await patchStatus('VirtualMachineNetworkConfig', 'default/web', { networkConfigs });
}

describe('kubectl vmdhcp why: what the leader saw of the client', () => {
  beforeAll(createMachine);

  it('is a link, with what is wrong and what to do', async () => {
    const answer = await plugin.run(await account('asks', ['reader', 'packets']), ['why', 'web']);
    expect(answer).toMatchObject({ code: 1, stderr: '' });
    expect(answer.stdout).toContain('10.1.0.10 is assigned to it, but the way to it is broken: OfferNotAccepted\n');
    expect(answer.stdout).toMatch(
      /✗ packets +Pod vm-dhcp-agents\/agent-1: DISCOVER 3 times; the last \d+ seconds ago: DISCOVER got OFFER 10\.1\.0\.10 +<- broken here\n/,
    );
    expect(answer.stdout).toContain('the last 2 DISCOVERs got OFFER 10.1.0.10 each, and no REQUEST followed');
    expect(asked.at(-1)).toBe(`agent-1 agent clients --json --pool ${POOL} --mac ${A}`);
  });

  it('without the right: it is named, and the rest of the answer is unchanged', async () => {
    const answer = await plugin.run(await account('may-not-ask', ['reader']), ['why', 'web']);
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect(answer.stdout).toContain('default/web, interface default: has 10.1.0.10 on network default/net-48\n');
    expect(answer.stdout).toMatch(/\? packets +Pod vm-dhcp-agents\/agent-1: cannot be asked\n/);
    expect(answer.stdout).toContain('cannot create pods/exec in namespace vm-dhcp-agents: ask for the verb create on it\n');
  });

  it('is not requested if the guest operating system reports the address', async () => {
    const interfaces = [{ name: 'default', mac: A, ipAddress: '10.1.0.10', infoSource: 'guest-agent' }];
    await cluster.admin.patch('VirtualMachineInstance', 'default/web', { status: { interfaces } });
    const before = asked.length;
    const { code, stdout } = await plugin.run(await account('asks-again', ['reader', 'packets']), ['why', 'web']);
    expect([code, stdout.includes('packets'), asked.length]).toEqual([0, false, before]);
  });
});

describe('kubectl vmdhcp capture', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'vmdhcp-capture-')), 'a.pcapng');
  let kubeconfig = '';
  afterAll(() => rmSync(dirname(file), { recursive: true }));
  beforeAll(async () => {
    kubeconfig = await account('captures', ['reader', 'packets']);
  });

  it('writes a file that ends where the agent ends it, and counts what was lost', async () => {
    const words = ['capture', POOL, '--write', file, '--packets', '3', '--seconds', '20', '--mac', A.replaceAll(':', '-')];
    const answer = await plugin.run(kubeconfig, words);
    expect(answer).toMatchObject({ code: 0, stdout: '' });
    expect(answer.stderr).toBe(
      `capturing packets of ${POOL} in pod ${NAMESPACE}/agent-1; Ctrl-C ends it\n${file}: 3 packets written, 2 lost before they were captured\n`,
    );
    expect(statSync(file).size).toBe(28 + 3 * 52 + 40);
    expect(asked.at(-1)).toBe(
      `agent-1 agent capture --until-input-ends --pool ${POOL} --seconds 20 --packets 3 --mac ${A} --write -`,
    );
    const piped = await plugin.run(kubeconfig, ['capture', 'net-48', '--write', '-', '--packets', '3']);
    expect(piped.stdout.length).toBeGreaterThan(100);
  });

  it('Ctrl-C ends both sides, and leaves a complete file', async () => {
    const running = plugin.start(kubeconfig, ['capture', POOL, '--write', file]);
    await waitFor('three packets', () => (statSync(file).size === 28 + 3 * 52 ? true : undefined));
    running.kill('SIGINT');
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(running.lines.at(-1)).toBe(`${file}: 3 packets written, 2 lost before they were captured`);
    expect(statSync(file).size).toBe(28 + 3 * 52 + 40);
  });

  it('Ctrl-C ends the connection to a program that does not end, and the file is still complete', async () => {
    const running = plugin.start(kubeconfig, ['capture', POOL, '--write', file, '--mac', HANGS]);
    await waitFor('three packets', () => (statSync(file).size === 28 + 3 * 52 ? true : undefined));
    running.kill('SIGINT');
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(running.lines.at(-1)).toBe(`${file}: 3 packets written`);
    expect(statSync(file).size).toBe(28 + 3 * 52);
  });

  it('a program that dies in the middle of a packet leaves a complete file too, and its reason', async () => {
    const answer = await plugin.run(kubeconfig, ['capture', POOL, '--write', file, '--mac', B]);
    expect(answer).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/3 packets written\nkubectl vmdhcp: out of memory\n$/) as string,
    });
    expect(statSync(file).size).toBe(28 + 3 * 52);
  });

  it('as lines, which contain no control characters', async () => {
    const { code, stdout, stderr } = await plugin.run(kubeconfig, ['capture', POOL, '--packets', '3']);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [...Array<string>(3).fill(expect.stringMatching(/^DISCOVER {2}\[31m capture/) as string), ''],
    ]);
    expect(stderr).toContain('3 packets shown\n');
  });

  it('without the right, without a pool, without a leader, to a place that cannot be written', async () => {
    const without = await account('captures-nothing', ['reader']);
    const refused = { code: 77, stderr: expect.stringContaining('resources: ["pods/exec"], verbs: ["get", "create"]') as string };
    expect(await plugin.run(without, ['capture', POOL])).toMatchObject(refused);
    expect(await plugin.run(kubeconfig, ['capture', 'none'])).toMatchObject({ code: 1 });
    const leaderless = {
      code: 69,
      stderr: expect.stringContaining(`no pod of group ${NAMESPACE}/group-of-agent-stale is leader`) as string,
    };
    expect(await plugin.run(kubeconfig, ['capture', 'agent-stale'])).toMatchObject(leaderless);
    const words = ['capture', POOL, '--packets', '3', '--write', '/nowhere/a.pcapng'];
    expect(await plugin.run(kubeconfig, words)).toMatchObject({ code: 73 });
  });

  it('no command runs in the pods of a namespace that no IPPool names, whatever its Leases claim', async () => {
    await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a-tenant' } });
    await createLease('trap', new Date(), 'a-tenant');
    await cluster.admin.create(ipPool('a-tenant/own'));
    const before = asked.length;
    const { stdout } = await plugin.run(cluster.adminKubeconfig, ['top', '-o', 'json']);
    expect(stdout).toContain(`${NAMESPACE}/agent-1`);
    expect(stdout).not.toContain('a-tenant');
    expect(await plugin.run(cluster.adminKubeconfig, ['capture', POOL, '--packets', '3'])).toMatchObject({ code: 0 });
    const ofTenant = await plugin.run(cluster.adminKubeconfig, ['top', '-n', 'a-tenant']);
    expect(ofTenant).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no agents found') as string });
    // A cluster whose agents are gone, or were never there.
    await patchStatus('IPPool', POOL, { agentDeploymentRef: null });
    const withoutAgents = await plugin.run(cluster.adminKubeconfig, ['capture', POOL, '--packets', '3']);
    expect(withoutAgents).toMatchObject({ code: 1, stderr: expect.stringContaining('no agent reports pool') as string });
    expect(asked.slice(before).filter((line) => line.includes('trap'))).toEqual([]);
    await patchStatus('IPPool', POOL, { agentDeploymentRef: { namespace: NAMESPACE, name: 'group-of-agent-1' } });
  });

  it('if IPPools may not be listed, the namespace must be given', async () => {
    const kubeconfigOfOther = await account('lists-leases', ['packets']);
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] }];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'leases' }, rules };
    await cluster.admin.create(role as KubernetesObject);
    await cluster.admin.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'lists-leases' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'leases' },
      subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: 'lists-leases' }],
    } as KubernetesObject);
    const refused = {
      code: 77,
      stderr: expect.stringMatching(/cannot list ippools\.network\.harvesterhci\.io.*--namespace/) as string,
    };
    expect(await plugin.run(kubeconfigOfOther, ['top'])).toMatchObject(refused);
    const given = await plugin.run(kubeconfigOfOther, ['top', '-n', NAMESPACE]);
    expect(given.stdout).toContain(`${NAMESPACE}/agent-1`);
  });
});
