/** The agent of a ClusterAgent: real clients on a real network, a simulated API server, and replicas that die. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOST_REASON_LINKS, type HostChain, type HostChainReason } from '@vmdhcp/explain/hosts';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type KubernetesObject, readConditions, readField } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  AGENT_BIN,
  acquire,
  ClusterAccess,
  has,
  KubectlPlugin,
  Lab,
  type LabProcess,
  type Machine,
  needs,
  reach,
  startClient,
  waitFor,
} from '../src/index.js';

const API_HOST = '10.98.255.1';
const SELF = '192.168.50.2/24';
/** On the interface of each replica, added by another program. */
const OTHER = '172.31.0.9/24';

let lab: Lab;
let simulator: KubeSimulator;
let access: ClusterAccess;
let kubeconfig: string;
let replicas: Replica[];
let machines: Machine[];

interface ReplicaSettings {
  readonly variables?: Readonly<Record<string, string>>;
  readonly parameters?: readonly string[];
  /** The machine, before the agent starts. */
  readonly prepare?: (machine: Machine) => Promise<void>;
}

class Replica {
  readonly machine: Machine;
  readonly process: LabProcess;
  readonly #address: string;

  private constructor(machine: Machine, address: string, { variables = {}, parameters = [] }: ReplicaSettings) {
    this.machine = machine;
    this.#address = address;
    const where = [
      '--kubeconfig',
      kubeconfig,
      '--namespace',
      'default',
      '--pod-name',
      machine.name,
      '--listen',
      `${address}:8080`,
    ];
    const words = [AGENT_BIN, 'hosts', '--cluster-agent', 'rack', ...where, '--lease-seconds', '2.75', ...parameters];
    this.process = machine.start(process.execPath, words, { env: { POD_IP: address, ...variables } });
  }

  static async start(number: number, settings: ReplicaSettings = {}): Promise<Replica> {
    const address = `10.98.0.${number}`;
    const machine = await lab.createMachine(`replica-${number}`, {
      ...{ network: 'br-api', macAddress: `02:00:00:98:00:0${number}`, address: `${address}/16` },
      interfaces: new Map([['net1', 'br-bmc']]),
    });
    machine.ip('address', 'add', OTHER, 'dev', 'net1');
    await settings.prepare?.(machine);
    return new Replica(machine, address, settings);
  }

  async get(path: string): Promise<string> {
    const response = await fetch(`http://${this.#address}:8080${path}`);
    return `${response.status} ${await response.text()}`;
  }

  /** `selfIp` is on its interface. */
  get isHolder(): boolean {
    return !this.process.hasEnded && this.machine.addresses('net1').includes(SELF);
  }

  events(event: string): Record<string, unknown>[] {
    const records = this.process.lines.flatMap((line) =>
      line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [],
    );
    return records.filter((record) => record['event'] === event);
  }
}

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br-api', `${API_HOST}/16`);
  lab.addNetwork('br-bmc');
  simulator = await startKubeSimulator({ host: API_HOST });
  kubeconfig = join(lab.folder, 'kubeconfig');
  writeFileSync(kubeconfig, simulator.kubeconfig(), { mode: 0o600 });
  access = await ClusterAccess.open(kubeconfig);
  for (const one of bareMetalResources) await access.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  for (const { plural } of bareMetalResources)
    await waitFor(`${plural} to be served`, async () => (await list(plural).catch(() => undefined)) !== undefined);
  replicas = [];
  machines = [];
});

afterEach(async () => {
  access.close();
  await lab.dispose();
  await simulator.stop();
});

function clientOf(plural: string): ApiObjectClient<KubernetesObject> {
  return new ApiObjectClient(access.connection, { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false });
}

async function list(plural: string): Promise<readonly KubernetesObject[]> {
  return (await clientOf(plural).list({ limit: 1_000 })).items;
}

const config = {
  ...{ dhcpServerInterface: 'net1', subnet: '192.168.50.0/24', ipRange: '192.168.50.10-192.168.50.19' },
  ...{ gateway: '192.168.50.1', selfIp: SELF },
  // 0 is a PC with a BIOS, 7 one with UEFI (RFC 4578 §2.1).
  ...{ nextServer: '192.168.50.3', bootfile: 'pxelinux.0', bootByArchitecture: [{ architecture: 7, bootfile: 'ipxe.efi' }] },
};

async function createAgent(): Promise<void> {
  const spec = { agentYaml: { underlayInterface: 'default/bmc', replicas: 2 }, feature: { dhcpServerConfig: config } };
  const object = { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'ClusterAgent', metadata: { name: 'rack' }, spec };
  const result = await clientOf('clusteragents').create(object as KubernetesObject);
  expect(result).toMatchObject({ ok: true });
}

const change = async (fields: Readonly<Record<string, unknown>>) =>
  expect(
    await clientOf('clusteragents').patch({ key: 'rack' }, { spec: { feature: { dhcpServerConfig: fields } } }),
  ).toMatchObject({ ok: true });

const lines = () => replicas.map(({ machine, process }) => `${machine.name}\n${process.lines.join('\n')}`).join('\n');
const holder = () =>
  waitFor(`a replica with selfIp`, () => replicas.find(({ isHolder }) => isHolder)).catch((error) => {
    throw new Error(`${error}\n${lines()}`);
  });

function unknownClient(number: number): Machine {
  const machine = lab.addMachine(`host-${number}`, { network: 'br-bmc', macAddress: `02:00:00:00:50:0${number}` });
  machines.push(machine);
  return machine;
}

/** Another machine with `selfIp`, which is a DHCP server too. */
async function startServerFromBefore() {
  const before = lab.addMachine('before', { network: 'br-bmc', macAddress: '02:00:00:00:50:66' });
  // The first one of a subnet takes the others with it when it is deleted.
  before.ip('address', 'add', '192.168.50.66/24', 'dev', 'eth0');
  before.ip('address', 'add', SELF, 'dev', 'eth0');
  const dnsmasq = before.start('dnsmasq', [
    ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'eth0', '--bind-interfaces', '--leasefile-ro', '--no-ping'],
    '--dhcp-range=192.168.50.120,192.168.50.199,255.255.255.0,600',
  ]);
  await dnsmasq.line('DHCP, sockets bound');
  return { machine: before, process: dnsmasq };
}

/** Asks as the network boot of a machine does, with its architecture (option 93) and vendor class (option 60). */
async function bootNetwork(machine: Machine, architecture: '00000' | '00007') {
  const code = architecture.slice(1);
  const parameters = ['-V', `PXEClient:Arch:${architecture}:UNDI:002001`, '-x', `0x5d:${code}`, '-O', '0x42', '-O', '0x43'];
  const running = startClient('udhcpc', machine, { once: true, parameters });
  const { values } = await running.event('bound');
  await running.process.ended();
  return values;
}

async function runBind(...parameters: readonly string[]): Promise<void> {
  const binding = lab.start(process.execPath, [AGENT_BIN, 'bind', ...parameters, '--kubeconfig', kubeconfig]);
  const { code } = await binding.ended();
  expect([code, binding.lines]).toEqual([0, [expect.stringContaining('is bound to')]]);
}

/** The lease of .10 ends by `release` when its machine does not answer ARP, and then its HostStatus goes. */
async function expectReleased(machine: Machine): Promise<void> {
  const name = 'rack-192-168-50-10';
  const release = async () => {
    const command = lab.start(process.execPath, [AGENT_BIN, 'release', '192.168.50.10', '--kubeconfig', kubeconfig]);
    const { code } = await command.ended();
    return { code, text: command.lines.join('\n') };
  };
  const host = () => clientOf('hoststatuses').get(name);
  await waitFor('its HostStatus', async () => readField(await host(), 'status', 'basic', 'activeDhcpClient') === true);
  machine.ip('address', 'replace', '192.168.50.10/24', 'dev', 'eth0');
  expect(await release()).toMatchObject({ code: 1, text: expect.stringContaining('has not ended') });
  await isExplained('LeaseKept', '192.168.50.10');
  machine.ip('address', 'flush', 'dev', 'eth0');
  expect(await release()).toEqual({ code: 0, text: `the lease of 192.168.50.10 has ended (${machine.macAddress})` });
  // It never renewed its lease, so that nothing is kept of it.
  await waitFor('its HostStatus to go', async () => (await host()) === undefined);
  expect(await acquire('udhcpc', machine)).toMatchObject({ address: '192.168.50.10' });
  await waitFor('a new HostStatus', async () => (await host()) !== undefined);
}

/** A board is unplugged: its address, .10, is bound to another one, which has it when it asks. */
async function expectReplaced(machine: Machine): Promise<void> {
  machine.ip('link', 'set', 'eth0', 'down');
  const board = unknownClient(2);
  await runBind('192.168.50.10', '--to', board.macAddress);
  await waitFor('the address of the board before it', async () => (await acquire('udhcpc', board)).address === '192.168.50.10');
}

it.skipIf(!has('udhcpc'))(
  `the lease of a host that is gone ends by release, and a board that replaces it has its address ${needs('udhcpc')}`,
  async () => {
    replicas.push(await Replica.start(1));
    await createAgent();
    await waitFor('a server', async () => (await replicas[0]?.get('/readyz').catch(() => ''))?.startsWith('200'));
    const client = unknownClient(1);
    await waitFor('its address', async () => (await acquire('udhcpc', client)).address === '192.168.50.10');
    await expectReleased(client);
    await expectReplaced(client);
  },
);

/** `kubectl vmdhcp why` of an address, by default one that no host has: the reason at its link, as grave as it is there, and with its remedy. */
async function isExplained(reason: HostChainReason, address = '192.168.50.99'): Promise<void> {
  const plugin = new KubectlPlugin();
  const { link, gravity } = HOST_REASON_LINKS[reason];
  const words = ['why', address, '-o', 'json', '--audit-namespace', 'default'];
  const found = await waitFor(`why: ${reason}`, async () => {
    const { hosts = [] } = JSON.parse((await plugin.run(kubeconfig, words)).stdout) as { readonly hosts?: readonly HostChain[] };
    const links = hosts.flatMap((host) => host.links).filter((one) => one.link === link);
    return links.flatMap(({ findings }) => findings).find((one) => one.reason === reason);
  }).finally(() => plugin.close());
  expect(found).toMatchObject({ state: gravity, remedy: HOST_REASONS[reason].remedy });
}

it.skipIf(!has('udhcpc', 'dhclient', 'dnsmasq'))(
  `unknown clients get leases, settings change without a restart, and another replica takes over ${needs('udhcpc', 'dhclient', 'dnsmasq')}`,
  async () => {
    const before = await startServerFromBefore();
    replicas.push(await Replica.start(1));
    await waitFor('the reason why it is not ready', async () =>
      (await replicas[0]?.get('/readyz').catch(() => ''))?.includes('ClusterAgent rack does not exist'),
    );
    await createAgent();
    await waitFor('the host that uses selfIp', async () => {
      const unready = await replicas[0]?.get('/readyz');
      return unready?.includes('selfIp 192.168.50.2 is in use by another host (02:00:00:00:50:66)');
    });
    expect(replicas[0]?.isHolder).toBe(false);
    await isExplained('SelfIpInUse');
    before.machine.ip('address', 'delete', SELF, 'dev', 'eth0');
    const first = await holder();
    await waitFor('the server from before in the status', async () => {
      const conditions = readConditions((await list('clusteragents'))[0]?.status);
      return conditions.some(
        ({ type, message }) => type === 'RogueServer' && message?.includes('192.168.50.66 (02:00:00:00:50:66)'),
      );
    });
    expect(await first.get('/metrics')).toContain('vmdhcp_agent_other_dhcp_servers 1');
    await isExplained('OtherServerAnswers');
    await before.process.stop();
    expect(first.machine.addresses('net1')).toContain(OTHER);
    replicas.push(await Replica.start(2));
    const client = unknownClient(1);
    const bound = await acquire('udhcpc', client);
    expect(bound).toMatchObject({ address: '192.168.50.10', values: { router: '192.168.50.1' } });
    await waitFor('its log line', () => first.events('bound').length > 0);
    expect(first.events('bound')).toMatchObject([{ address: '192.168.50.10', total: 10, remaining: 9 }]);
    await waitFor(
      'the HostStatus of the client',
      async () =>
        readField(await clientOf('hoststatuses').get('rack-192-168-50-10'), 'status', 'basic', 'mac') === client.macAddress,
    );
    await runBind('192.168.50.10', '--to', '02:00:00:00:50:02');
    // Its client has another one when it asks again, once the agent has seen the object.
    await waitFor('another address of the client', async () => (await acquire('udhcpc', client)).address === '192.168.50.11');
    const running = startClient('udhcpc', client);
    await running.event('bound');
    running.process.kill('SIGUSR2');
    await waitFor('the RELEASE, which ends no lease', async () =>
      (await first.get('/metrics')).includes('reason="lease-stays"} 1'),
    );
    await running.process.stop();
    expect(first.events('released')).toEqual([]);
    expect(await acquire('udhcpc', unknownClient(2))).toMatchObject({ address: '192.168.50.10' });
    expect(await acquire('udhcpc', client)).toMatchObject({ address: '192.168.50.11' });
    await waitFor(
      'the usage in the status',
      async () => readField((await list('clusteragents'))[0], 'status', 'addresses', 'used') === 2,
    );

    const boot = { ip: '192.168.50.11', siaddr: '192.168.50.3', tftp: '192.168.50.3' };
    const bios = { ...boot, boot_file: 'pxelinux.0', bootfile: 'pxelinux.0' };
    expect(await bootNetwork(client, '00000')).toMatchObject(bios);
    expect(await bootNetwork(client, '00007')).toMatchObject({ ...boot, boot_file: 'ipxe.efi', bootfile: 'ipxe.efi' });

    await change({ ipRange: '192.168.50.30-192.168.50.39' });
    await waitFor('the new range', () => first.process.lines.filter((line) => line.includes('are in effect')).length === 2);
    expect(await acquire('udhcpc', unknownClient(3))).toMatchObject({ address: '192.168.50.30' });
    expect(await acquire('dhclient', unknownClient(4))).toMatchObject({ address: '192.168.50.31' });

    await change({ ipRange: '192.168.50.30-192.168.50.31' });
    await waitFor('no free address', () => first.process.lines.filter((line) => line.includes('are in effect')).length === 3);
    const inVain = startClient('udhcpc', unknownClient(5));
    await isExplained('AddressesExhausted');
    await inVain.process.stop();

    await waitFor('a standby that is ready', async () => (await replicas[1]?.get('/readyz').catch(() => ''))?.startsWith('200'));
    expect(replicas.filter(({ isHolder }) => isHolder)).toEqual([first]);
    first.process.kill('SIGKILL');
    const second = await waitFor('the other replica', () => replicas.find((one) => one !== first && one.isHolder));
    expect(second.machine.addresses('net1')).toContain(OTHER);
    // Also one whose range is gone, and one that is bound.
    for (const [number, address] of [
      [1, '192.168.50.11'],
      [2, '192.168.50.10'],
      [3, '192.168.50.30'],
    ] as const)
      expect(await acquire('udhcpc', machines[number - 1] as Machine)).toMatchObject({ address });
    await second.process.stop();
    expect(second.machine.addresses('net1')).toEqual([OTHER]);
  },
);

/** Client 1 has a lease, client 2 had one; two addresses do not belong to a client that can be recognized. */
const OF_DHCPD = `lease 192.168.50.10 { ends never; binding state abandoned; }
lease 192.168.50.11 { ends never; binding state active; hardware infiniband 80:00:02:08; uid "ib"; }
lease 192.168.50.12 { ends never; binding state active; hardware ethernet 02:00:00:00:50:01; }
lease 192.168.50.14 { ends 1 2026/11/02 16:00:00; binding state free; hardware ethernet 02:00:00:00:50:02; }
`;

async function importLeases(...parameters: readonly string[]): Promise<LabProcess> {
  const file = join(lab.folder, 'dhcpd.leases');
  writeFileSync(file, OF_DHCPD);
  const importing = lab.start(process.execPath, [AGENT_BIN, 'import', '--isc', file, ...parameters]);
  await importing.ended();
  return importing;
}

async function expectLeasesOfDhcpd(): Promise<void> {
  expect(await acquire('udhcpc', unknownClient(3)), 'a new client').toMatchObject({ address: '192.168.50.13' });
  expect(await acquire('udhcpc', unknownClient(2)), 'a client whose lease has ended').toMatchObject({ address: '192.168.50.14' });
  expect(await acquire('udhcpc', unknownClient(1)), 'a client with a lease').toMatchObject({ address: '192.168.50.12' });
}

it.skipIf(!has('udhcpc'))(
  `leases of dhcpd that are imported into the cluster: no address in use is given to another client ${needs('udhcpc')}`,
  async () => {
    await createAgent();
    const into = ['--cluster-agent', 'rack', '--namespace', 'default', '--kubeconfig', kubeconfig];
    const imported = await importLeases(...into);
    expect(imported.lines.at(-1)).toBe('4 records written to LeaseSlice default/rack-leases');
    replicas.push(await Replica.start(1));
    const leader = await holder();
    await expectLeasesOfDhcpd();
    expect((await importLeases(...into)).lines.at(-1)).toContain('an agent of ClusterAgent rack is leader (replica-1_');
    await leader.process.stop();
    const exporting = lab.start(process.execPath, [AGENT_BIN, 'export', '--isc', ...into]);
    await exporting.ended();
    for (const last of ['12', '13', '14']) expect(exporting.lines).toContain(`lease 192.168.50.${last} {`);
    expect((await importLeases(...into)).lines.at(-1)).toContain('ClusterAgent rack has leases in default already');
  },
);

it.skipIf(!has('udhcpc'))(
  `leases in a directory: a replica takes over those of another one that died, and with imported ones ${needs('udhcpc')}`,
  async () => {
    await createAgent();
    const state = join(lab.folder, 'state');
    expect((await importLeases('--pool', 'rack', '--state-dir', state)).lines.at(-1)).toBe(`4 records written to ${state}`);
    const parameters = ['--leases', 'directory', '--state', state];
    replicas.push(await Replica.start(1, { parameters }));
    const first = await holder();
    await expectLeasesOfDhcpd();
    replicas.push(await Replica.start(2, { parameters }));
    first.process.kill('SIGKILL');
    await waitFor('the other replica', () => replicas.find((one) => one !== first && one.isHolder));
    for (const [index, address] of ['192.168.50.13', '192.168.50.14', '192.168.50.12'].entries())
      expect(await acquire('udhcpc', machines[index] as Machine)).toMatchObject({ address });
  },
);

it('a machine of the management network reaches nothing through a pod with a network of its own', async () => {
  const OFFICE = '10.98.0.77';
  const office = lab.addMachine('office', { network: 'br-api', macAddress: '02:00:00:98:00:77' });
  office.ip('address', 'add', `${OFFICE}/16`, 'dev', 'eth0');
  office.ip('route', 'add', '172.31.0.0/24', 'via', '10.98.0.1');
  const intruder = unknownClient(7);
  intruder.ip('address', 'add', '172.31.0.77/24', 'dev', 'eth0');
  intruder.ip('route', 'add', 'default', 'via', '172.31.0.9');
  await createAgent();
  const replica = await Replica.start(1, {
    variables: { AGENT_POD_NETWORK: 'own' },
    prepare: async (pod) => {
      // As a pod is on a node that forwards.
      pod.setSysctls({ 'ipv4/ip_forward': '1' });
      expect(await reach(intruder, OFFICE, 9), 'before the agent runs, the pod forwards').toBe('refused');
    },
  });
  replicas.push(replica);
  await holder();
  await waitFor('the rule', () => replica.process.lines.some((line) => line.includes('nothing is forwarded from the interface')));
  expect(await reach(intruder, OFFICE, 9), 'another network of the pod').toBe('silent');
  expect(await reach(intruder, '172.31.0.9', 9), 'the pod itself').toBe('refused');
  expect(await reach(replica.machine, '172.31.0.77', 9), 'a management controller, from the pod').toBe('refused');
  replica.machine.setSysctls({ 'ipv4/conf/net1/forwarding': '1' });
  expect(await reach(intruder, OFFICE, 9), 'whatever the setting is').toBe('silent');
});
