/** What else `kubectl vmdhcp` shows and writes, as a process against an API server on which a controller of this checkout works. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readConditions, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  CLUSTER_EXAMPLES,
  compareRights,
  has,
  ipPool,
  KubectlPlugin,
  needs,
  networkAttachment,
  PLUGIN_BIN,
  rightsOf,
  SYSTEM_PATH,
  serviceAccountToken,
  TEST_CLUSTER_VARIABLE,
  TestCluster,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const [A, B, C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'];
const GROUP = 'vm-dhcp-agent-1';
const LABELS = { 'network.harvesterhci.io/vm-dhcp-controller': 'agent', 'network.harvesterhci.io/agent-group': GROUP };

let cluster: TestCluster;
const plugin = new KubectlPlugin();

beforeAll(async () => {
  cluster = await TestCluster.open();
  await cluster.startController('--no-agent', '--namespace', cluster.namespace);
  await cluster.access.create(networkAttachment(keyOf('net')));
  const range = { router: '10.1.0.1', pool: { start: '10.1.0.10', end: '10.1.0.11' } };
  await cluster.access.create(ipPool(keyOf('pool'), { network: keyOf('net'), ipv4Config: range }));
  await cluster.access.create(virtualMachine(keyOf('a'), A, keyOf('net')));
  await recorded('10.1.0.10', A);
  await allocated('a');
  await cluster.access.waitForObject('IPPool', keyOf('pool'), ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'AgentReady' && is === 'True'),
  );
});

afterAll(async () => {
  plugin.close();
  await cluster?.close();
});

const keyOf = (name: string) => `${cluster.namespace}/${name}`;
const run = (...words: readonly string[]) => plugin.run(cluster.kubeconfigPath, [...words, '-n', cluster.namespace]);

/** The items that a command lists as JSON. */
async function items(...words: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { stdout, stderr } = await run(...words, '-o', 'json');
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { readonly items: readonly Readonly<Record<string, unknown>>[] }).items;
}

async function recorded(address: string, macAddress: string | undefined): Promise<void> {
  await cluster.access.waitForObject(
    'IPPool',
    keyOf('pool'),
    ({ status }) => readText(status, 'ipv4', 'allocated', address) === macAddress,
  );
}

/** Resolves when the VirtualMachineNetworkConfig has the address too, which is written after the IPPool. */
async function allocated(name: string): Promise<void> {
  await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf(name), ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
}

/** As the controller names the agents of a pool. @param namespace - undefined: it has none. */
async function hasAgentsIn(namespace: string | undefined): Promise<void> {
  const agentDeploymentRef = namespace === undefined ? null : { namespace, name: GROUP };
  await cluster.access.client('IPPool').patchStatus({ key: keyOf('pool') }, { status: { agentDeploymentRef } });
}

/** As the leader of a group of agents writes it. */
function leaseOf(namespace: string, report: object, leaseDurationSeconds = 60): KubernetesObject {
  const annotations = { 'network.harvesterhci.io/agent-report': JSON.stringify({ [keyOf('pool')]: report }) };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name: GROUP, labels: LABELS, annotations },
    spec: { holderIdentity: 'agent-1_x', leaseDurationSeconds, renewTime: timeAgo(0) },
  };
}

/** As a Lease has it. */
function timeAgo(ms: number): string {
  return new Date(Date.now() - ms).toISOString().replace('Z', '000Z');
}

async function addMachine(name: string, macAddress: string): Promise<void> {
  await cluster.access.create(virtualMachine(keyOf(name), macAddress, keyOf('net')));
}

async function removeMachine(name: string, address: string): Promise<void> {
  await cluster.access.delete('VirtualMachine', keyOf(name));
  await recorded(address, undefined);
}

describe('lists', () => {
  it('pools: for people, as data, as names', async () => {
    const { stdout, code } = await run('pools');
    expect([code, stdout.split('\n')[0]?.split(/ +/)]).toEqual([
      0,
      ['NAMESPACE', 'NAME', 'NETWORK', 'CIDR', 'USED', 'FREE', 'QUARANTINED', 'SERVED', 'REASON'],
    ]);
    expect(stdout.split('\n')[1]?.split(/ +/).slice(1)).toEqual(['pool', keyOf('net'), '10.1.0.0/24', '1', '1', '0', 'True']);
    expect(await items('pools')).toMatchObject([{ name: 'pool', used: 1, free: 1, start: '10.1.0.10', end: '10.1.0.11' }]);
    expect((await run('pools', '-o', 'name')).stdout).toBe('ippool.network.harvesterhci.io/pool\n');
    expect((await run('pools', '-o', 'yaml')).stdout).toContain('- namespace: ');
  });

  it('leases: by virtual machine, pool, network and MAC address', async () => {
    await addMachine('b', B);
    await recorded('10.1.0.11', B);
    await allocated('b');
    const ofB = { virtualMachine: 'b', interface: 'default', address: '10.1.0.11', macAddress: B, network: keyOf('net') };
    for (const filter of [
      ['--vm', 'b'],
      ['--mac', '0200.0000.000B'],
      ['--vm', keyOf('b'), '--pool', 'pool'],
      ['--vm', 'b', '--network', 'net'],
    ])
      expect(await items('leases', ...filter), filter.join(' ')).toMatchObject([ofB]);
    expect(await items('leases', '--pool', 'pool')).toHaveLength(2);
    expect(await items('leases', '--network', 'other')).toEqual([]);
    const unknown = await run('leases', '--pool', 'none');
    expect(unknown).toMatchObject({
      code: 1,
      stderr: `kubectl vmdhcp: there is no IPPool ${keyOf('none')}: kubectl vmdhcp pools -A\n`,
    });
    expect(await run('leases', '--mac', 'x')).toMatchObject({ code: 64 });
    await removeMachine('b', '10.1.0.11');
  });

  it('leases: interfaces that wait for their MAC address have none either', async () => {
    await addMachine('waits', '');
    const waiting = { virtualMachine: 'waits', interface: 'default', address: '', macAddress: '', network: keyOf('net') };
    expect(await items('leases')).toMatchObject([{ virtualMachine: 'a' }, { ...waiting, reason: 'AwaitingMacAddress' }]);
    expect(await items('leases', '--vm', 'a')).toHaveLength(1);
    expect(await items('leases', '--mac', A)).toHaveLength(1);
    expect((await run('leases', '--vm', 'waits', '-o', 'name')).stdout).toBe('virtualmachine.kubevirt.io/waits\n');
    await cluster.access.delete('VirtualMachine', keyOf('waits'));
  });

  it('agents, by the report of their leader: those of the namespace that the IPPool names', async () => {
    await hasAgentsIn(cluster.namespace);
    const report = { serving: false, reason: 'SocketFailed', message: 'EPERM' };
    await cluster.access.create(leaseOf(cluster.namespace, report));
    const other = `${cluster.namespace}-other`;
    await cluster.access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } });
    await cluster.access.create(leaseOf(other, { ...report, message: 'of a tenant' }));
    const listed = await plugin.run(cluster.kubeconfigPath, ['agents', '-o', 'json']);
    expect((JSON.parse(listed.stdout) as { readonly items: readonly object[] }).items).toMatchObject([
      {
        namespace: cluster.namespace,
        group: GROUP,
        leader: 'agent-1',
        pool: keyOf('pool'),
        serving: false,
        reason: 'SocketFailed',
      },
    ]);
    expect(listed.stderr).toContain(`left out, because no IPPool has agents in that namespace`);
    expect(listed.stderr).toContain(`Lease ${other}/${GROUP}`);
    await cluster.access.delete('Lease', `${other}/${GROUP}`);
    await cluster.access.delete('Lease', keyOf(GROUP));
    await cluster.access.delete('Namespace', other);
    await hasAgentsIn(undefined);
  });

  it('Events of the controller', async () => {
    await cluster.access.create(virtualMachine(keyOf('lost'), C, keyOf('nowhere')));
    const found = await waitFor('the Event', async () => (await items('events')).find(({ reason }) => reason === 'NoPool'));
    expect(found).toMatchObject({ object: 'VirtualMachine/lost', type: 'Warning' });
    await cluster.access.delete('VirtualMachine', keyOf('lost'));
  });

  it('export: as CSV and for Kea', async () => {
    const { stdout } = await run('export');
    expect(stdout).toContain(`${keyOf('pool')},${keyOf('net')},10.1.0.10,${A},${cluster.namespace},a,default,\r\n`);
    const kea = JSON.parse((await run('export', '--format', 'kea', '--pool', 'pool')).stdout) as object;
    expect(kea).toMatchObject({ Dhcp4: { subnet4: [{ subnet: '10.1.0.0/24', reservations: [{ 'ip-address': '10.1.0.10' }] }] } });
  });

  it.skipIf(!has('kea-dhcp4'))(`export: a Kea server accepts the file ${needs('kea-dhcp4')}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-kea-'));
    const path = join(folder, 'kea-dhcp4.json');
    const check = () => {
      const { status, stdout, stderr } = spawnSync('kea-dhcp4', ['-t', path], { encoding: 'utf8', env: { PATH: SYSTEM_PATH } });
      return { status, output: stdout + stderr };
    };
    const exported = (await run('export', '--format', 'kea', '--pool', 'pool')).stdout;
    writeFileSync(path, exported);
    const { status, output } = check();
    expect(status, output).toBe(0);
    expect(output).toContain('a new subnet has been added to configuration: 10.1.0.0/24');
    writeFileSync(path, exported.replace('"10.1.0.10"', '"no address"'));
    expect(check().status, 'it reads the reservations').not.toBe(0);
    rmSync(folder, { recursive: true });
  });
});

describe('--watch, until it is asked to end', () => {
  const range = { cidr: '10.2.0.0/24', serverIP: '10.2.0.2', router: '10.2.0.1', pool: { start: '10.2.0.10', end: '10.2.0.30' } };

  beforeAll(async () => {
    await cluster.access.create(networkAttachment(keyOf('watched')));
  });

  /** Rows of a watch while these things happen. */
  async function watching(words: readonly string[], story: (text: () => string) => Promise<void>, exitCode = 0): Promise<string> {
    const parameters = [...words, '--watch', '-n', cluster.namespace, '--kubeconfig', cluster.kubeconfigPath];
    const child = spawn(process.execPath, [PLUGIN_BIN, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    try {
      await waitFor('the first row', () => text !== '');
      await story(() => text);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await closed).toBe(exitCode);
    return text;
  }

  it('pools: what changes, and a pool that is deleted, as lines of JSON', async () => {
    const text = await watching(['pools', '-o', 'json'], async (printed) => {
      await addMachine('w', B);
      await waitFor('the changed row', () => printed().includes('"used":2'));
      await cluster.access.create(ipPool(keyOf('second'), { network: keyOf('watched'), ipv4Config: range }));
      await waitFor('the new row', () => printed().includes('"second"'));
      await cluster.access.delete('IPPool', keyOf('second'));
      await waitFor('the row that is gone', () => printed().includes('"gone":true'));
    });
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(rows[0]).toMatchObject({ name: 'pool', used: 1 });
    expect(rows.filter(({ gone }) => gone)).toMatchObject([{ name: 'second', cidr: '10.2.0.0/24' }]);
    await removeMachine('w', '10.1.0.11');
  });

  it('leases: an interface that comes and goes, as documents of YAML', async () => {
    const text = await watching(['leases', '-o', 'yaml'], async (printed) => {
      await addMachine('w', B);
      await waitFor('its row', () => printed().includes('address: 10.1.0.11'));
      await cluster.access.delete('VirtualMachine', keyOf('w'));
      await waitFor('the row that is gone', () => printed().includes('gone: true'));
    });
    const documents = parseAllDocuments(text).map((one) => one.toJS() as Readonly<Record<string, unknown>>);
    expect(documents[0]).toMatchObject({ virtualMachine: 'a', address: '10.1.0.10' });
    expect(documents.at(-1)).toMatchObject({ virtualMachine: 'w', macAddress: B, gone: true });
    await recorded('10.1.0.11', undefined);
  });

  it('agents: a leader that stops renewing, which no object shows', async () => {
    await hasAgentsIn(cluster.namespace);
    await cluster.access.create(leaseOf(cluster.namespace, { serving: true }, 3));
    const text = await watching(['agents'], async (printed) => {
      expect(printed()).not.toContain('NotLeading');
      // As long ago as a leader may have renewed it, with what clocks differ by: two seconds less.
      await cluster.access.patch('Lease', keyOf(GROUP), { spec: { renewTime: timeAgo(31_000) } });
      await waitFor('the row without a leader', () => printed().includes('NotLeading'));
    });
    const lines = text.trimEnd().split('\n');
    expect(lines[1]).toMatch(/agent-1 .* True/);
    expect(lines.at(-1)).toMatch(/False +NotLeading$/);
    await cluster.access.delete('Lease', keyOf(GROUP));
    await hasAgentsIn(undefined);
  });

  it('why: each answer that differs, as lines of JSON; as a name', async () => {
    const text = await watching(['why', keyOf('w'), '--interval', '1', '-o', 'json'], async (printed) => {
      await addMachine('w', B);
      await waitFor('its address', () => printed().includes('"address":"10.1.0.11"'));
    });
    const answers = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(answers[0]).toMatchObject({ hasAddress: false });
    expect(answers.at(-1)).toMatchObject({ hasAddress: true });
    expect((await run('why', B, '-o', 'name')).stdout).toBe('virtualmachine.kubevirt.io/w\n');
    await removeMachine('w', '10.1.0.11');
  });

  it('events: those that come', async () => {
    await watching(['events'], async (printed) => {
      await cluster.access.create(virtualMachine(keyOf('lost-too'), C, keyOf('nowhere')));
      await waitFor('the Event', () => printed().includes('VirtualMachine/lost-too'));
    });
    await cluster.access.delete('VirtualMachine', keyOf('lost-too'));
  });
});

describe('a MAC address that other virtual machines claim later', () => {
  const LATER = ['0-copy', 'zz-copy'];

  beforeAll(async () => {
    for (const name of LATER) await addMachine(name, A);
    for (const name of LATER)
      await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf(name), ({ status }) =>
        readConditions(status).some(({ reason }) => reason === 'MacAddressClaimedTwice'),
      );
  });

  it('why: by address and by MAC address, the one that has the address', async () => {
    for (const subject of ['10.1.0.10', A]) {
      const { stdout, code } = await run('why', subject);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`${keyOf('a')}, interface default: has 10.1.0.10`)]);
      expect(stdout).toContain(
        `other virtual machines with the same MAC address, which do not have the address: ${LATER.map(keyOf).join(', ')}`,
      );
    }
  });

  it('export: with its name alone', async () => {
    expect((await run('export')).stdout).toContain(`10.1.0.10,${A},${cluster.namespace},a,default,\r\n`);
    const kea = JSON.parse((await run('export', '--format', 'kea')).stdout) as object;
    expect(kea).toMatchObject({ Dhcp4: { subnet4: [{ reservations: [{ 'ip-address': '10.1.0.10', hostname: 'a' }] }] } });
  });

  it('release: refused, even if only the VirtualMachineNetworkConfig of another one is left', async () => {
    for (const name of LATER) await orphanConfig(name);
    const refused = await run('release', '10.1.0.10');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`VirtualMachine ${keyOf('a')} exists`) });
    for (const name of LATER) expect(await run('release', name)).toMatchObject({ code: 0 });
  });
});

/** As kubectl delete vm --cascade=orphan leaves it. */
async function orphanConfig(name: string): Promise<void> {
  await cluster.access.connection.request({
    method: 'DELETE',
    path: `/apis/kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachines/${name}`,
    body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' },
  });
  await waitFor('the virtual machine to go', async () => (await cluster.access.get('VirtualMachine', keyOf(name))) === undefined);
}

describe('writes', () => {
  it('pin: a dry run writes nothing; an address that another has is refused; one that is free is assigned', async () => {
    await addMachine('p', B);
    await recorded('10.1.0.11', B);
    await allocated('p');
    const taken = await run('pin', 'p', 'default', '10.1.0.10');
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain(`AddressTaken: 10.1.0.10 (${A})`);
    await cluster.access.patch('IPPool', keyOf('pool'), { spec: { ipv4Config: { pool: { end: '10.1.0.20' } } } });
    const what = `set annotation static-ip.harvesterhci.io/default=10.1.0.15 of VirtualMachine ${keyOf('p')}`;
    expect(await run('pin', 'p', 'default', '10.1.0.15', '--dry-run')).toMatchObject({ code: 0, stdout: `would ${what}\n` });
    const annotations = async () => (await cluster.access.get('VirtualMachine', keyOf('p')))?.metadata.annotations ?? {};
    expect(Object.keys(await annotations())).not.toContain('static-ip.harvesterhci.io/default');
    expect(await run('pin', 'p', 'default', '10.1.0.15')).toMatchObject({ code: 0, stdout: `done: ${what}\n` });
    await recorded('10.1.0.15', B);
    expect(await run('pin', 'p', 'default', '--remove')).toMatchObject({ code: 0 });
    expect(Object.keys(await annotations())).not.toContain('static-ip.harvesterhci.io/default');
    expect((await run('pin', 'p', 'default', '--remove')).stdout).toContain('nothing to do');
    const imported = { 'network.kubevirt.io/addresses': '{"default":["10.1.0.15"]}' };
    await cluster.access.patch('VirtualMachine', keyOf('p'), { metadata: { annotations: imported } });
    expect((await run('pin', 'p', 'default', '--remove')).stdout).toContain('network.kubevirt.io/addresses pins addresses');
    const asData = await run('pin', 'p', 'default', '10.1.0.16', '--dry-run', '-o', 'json');
    const object = { object: 'virtualmachine.kubevirt.io/p', namespace: cluster.namespace };
    expect(JSON.parse(asData.stdout)).toMatchObject({
      result: 'dry-run',
      message: expect.stringContaining('=10.1.0.16'),
      ...object,
    });
    const named = await run('pin', 'p', 'default', '10.1.0.16', '--dry-run', '-o', 'name');
    expect(named.stdout).toBe('virtualmachine.kubevirt.io/p\n');
    await removeMachine('p', '10.1.0.15');
  });

  it('release: refused while the virtual machine is there; done when only its VirtualMachineNetworkConfig is left', async () => {
    await addMachine('r', B);
    await recorded('10.1.0.11', B);
    await allocated('r');
    const refused = await run('release', '10.1.0.11');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      `VirtualMachine ${keyOf('r')} exists, and the controller would assign the same addresses again`,
    );
    await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf('r'), ({ metadata }) => metadata.uid !== undefined);
    await orphanConfig('r');
    const dry = await run('release', '10.1.0.11', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`would delete VirtualMachineNetworkConfig ${keyOf('r')}`),
    });
    await recorded('10.1.0.11', B);
    const config = 'virtualmachinenetworkconfig.network.harvesterhci.io/r\n';
    expect(await run('release', 'r', '-o', 'name')).toMatchObject({ code: 0, stdout: config });
    await recorded('10.1.0.11', undefined);
    expect((await run('release', '10.1.0.11')).stdout).toContain('nothing to do: no client has 10.1.0.11');
    expect((await run('release', '10.1.0.11', '-o', 'yaml')).stdout).toContain('result: nothing-to-do\n');
  });

  it('release ends a quarantine', async () => {
    const quarantined = { '10.1.0.12': { until: '2099-01-01T00:00:00Z', usedBy: B } };
    await cluster.access.client('IPPool').patchStatus({ key: keyOf('pool') }, { status: { ipv4: { quarantined } } });
    expect((await run('why', '10.1.0.12')).stdout).toContain(`quarantined: another machine uses it, in use by ${B}`);
    expect(await run('release', '10.1.0.12')).toMatchObject({ code: 0 });
    await cluster.access.waitForObject('IPPool', keyOf('pool'), ({ status }) => !JSON.stringify(status).includes('10.1.0.12'));
  });
});

it.skipIf(process.env[TEST_CLUSTER_VARIABLE])(
  'examples/cluster/reader.yaml: every command that reads works with it, and no right of it is unused',
  async () => {
    const { access, simulator, namespace } = cluster;
    await access.applyFile(join(CLUSTER_EXAMPLES, 'reader.yaml'));
    const account = { namespace, name: 'operator' };
    await access.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'vmdhcp-reader' };
    const subjects = [{ kind: 'ServiceAccount', ...account }];
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'operator' },
      roleRef,
      subjects,
    };
    await access.create(binding as KubernetesObject);
    const token = await serviceAccountToken(access, namespace, account.name);
    const kubeconfig = plugin.write(simulator?.kubeconfig({ name: account.name, token }) ?? '');
    const words = [
      ['why', keyOf('a')],
      ['why', A],
      ['why', keyOf('unknown')],
      ['why', '10.9.9.9', '--audit-namespace', namespace],
      ['leases', '-A', '--pool', keyOf('pool')],
      ['export', '-A'],
      ['audit', A, '--audit-namespace', namespace],
    ];
    await addMachine('waits', '');
    for (const each of [...words, ['why', keyOf('waits')]])
      expect((await plugin.run(kubeconfig, each)).stderr, each.join(' ')).toBe('');
    for (const kind of ['pools', 'leases', 'agents', 'events']) await watchedOnce(kind, kubeconfig);
    const rights = await rightsOf(access, account);
    expect(compareRights(rights, simulator?.audit.requests ?? [], account)).toEqual({ unused: [], refused: [] });
    await cluster.access.delete('VirtualMachine', keyOf('waits'));
  },
);

describe('audit', () => {
  const ask = (...words: readonly string[]) => run('audit', ...words, '--audit-namespace', cluster.namespace);
  const rows = async (...words: readonly string[]) =>
    (JSON.parse((await ask(...words, '-o', 'json')).stdout) as { readonly items: readonly Readonly<Record<string, string>>[] })
      .items;

  it('who had an address: ended, current and unknown', async () => {
    await addMachine('short', C);
    await recorded('10.1.0.11', C);
    await removeMachine('short', '10.1.0.11');
    const has = (row: Readonly<Record<string, string>> | undefined) => row?.['ended'] === 'vm-deleted';
    await waitFor('the end to be stored', async () => has((await rows(C)).at(-1)));
    const [first, last] = [(await rows('10.1.0.10'))[0], (await rows(C)).at(-1)];
    expect(first).toMatchObject({
      pool: keyOf('pool'),
      virtualMachine: keyOf('a'),
      macAddress: A,
      network: keyOf('net'),
      interface: 'default',
    });
    expect(first).not.toHaveProperty('to');
    expect(last).toMatchObject({ address: '10.1.0.11', virtualMachine: keyOf('short'), macAddress: C, ended: 'vm-deleted' });
    expect(await rows('short')).toEqual([last]);
    expect(await rows('--network', 'net', '--since', '1h')).toContainEqual(last);
    expect(await rows('--network', 'another')).toEqual([]);
    const ofAddress = await run('why', '10.1.0.11', '--audit-namespace', cluster.namespace);
    const was = `10.1.0.11 of IPPool ${keyOf('pool')} was last assigned to ${keyOf('short')}, interface default, ${C}, until `;
    expect(ofAddress).toMatchObject({ code: 1, stdout: expect.stringContaining(was) });
    expect(ofAddress.stdout).toContain(': the virtual machine was deleted (vm-deleted)');
    expect((await run('why', C, '--audit-namespace', cluster.namespace)).stdout).toContain(was);
    const elsewhere = await run('why', '10.1.0.11', '--audit-namespace', 'kube-public');
    expect(elsewhere.stdout).toContain('who had it last is not known: there are no records in namespace kube-public');
    const long = await ask('10.1.0.11', '--at', '2020-01-01');
    expect([long.code, long.stdout]).toEqual([1, expect.stringMatching(/not-known +(nothing-recorded|older-than-records)/)]);
  });

  it('for people and as names; wrong questions', async () => {
    expect(await run('why', '999.1.1.1')).toMatchObject({ code: 64, stderr: expect.stringContaining('is not an IPv4 address') });
    expect(await run('top', '--limit', '0')).toMatchObject({ code: 0 });
    expect((await ask('a')).stdout.split('\n')[0]?.split(/ +/)).toEqual([
      'ADDRESS',
      'VM',
      'INTERFACE',
      'MAC',
      'FROM',
      'TO',
      'BEGAN',
      'ENDED',
    ]);
    expect((await ask('a', '-o', 'name')).stdout).toBe('virtualmachine.kubevirt.io/a\n');
    expect(await ask('a', '--at', 'Tuesday')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--at Tuesday: write 2026-'),
    });
    expect(await ask('--at', '3d')).toMatchObject({ code: 64 });
    const nowhere = await run('audit', 'a', '--audit-namespace', 'kube-public');
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('there are no records in namespace kube-public') });
  });
});

/** Watches until the API server has been asked to. */
async function watchedOnce(kind: string, kubeconfig: string): Promise<void> {
  const words = [PLUGIN_BIN, kind, '-A', '--watch', '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, words, { stdio: 'ignore' });
  const resource = { pools: 'ippools', leases: 'virtualmachinenetworkconfigs', agents: 'leases', events: 'events' }[kind];
  await waitFor(`the watch of ${kind}`, async () =>
    cluster.simulator?.audit.requests.some(
      (one) => one.verb === 'watch' && one.resource === resource && one.user.endsWith(':operator'),
    ),
  );
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('close', resolve));
}

it('a cluster that does not answer: exit code 69; no kubeconfig: 66', async () => {
  const away = { clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }], users: [{ name: 'u', user: {} }] };
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  const unreachable = await plugin.run(plugin.write(JSON.stringify({ ...away, contexts, 'current-context': 'x' })), ['pools']);
  expect(unreachable.code).toBe(69);
  expect(unreachable.stderr).toMatch(/^kubectl vmdhcp: the cluster does not answer: GET .*: connect ECONNREFUSED/);
  expect(await plugin.run('/nowhere', ['pools'])).toMatchObject({ code: 66 });
});
