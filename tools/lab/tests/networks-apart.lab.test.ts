/** Agents are attached to many networks at a time: no packet may pass from one to another, nor to the network of the pods. */
import { encodeMessage, macAddressBytes, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { ArpSocket, PacketSocket } from '@vmdhcp/linux-sockets';
import { agentInterfaceName } from '@vmdhcp/reconciler';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  advertiseRouter,
  type CapturedMessage,
  has,
  Lab,
  LabCluster,
  type LabClusterSettings,
  type LabPod,
  type Machine,
  needs,
  PacketCapture,
  reach,
  startClient,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const GROUP = 'vm-dhcp-agent-mgmt-1';
const POOL_48 = 'default/net-48';
const POOL_49 = 'default/net-49';
const CLIENT_49 = '02:00:5e:00:00:49';
/** What a new pod copies from a node that forwards and checks source addresses strictly. */
const FORWARDING_NODE = { 'ipv4/ip_forward': '1', 'ipv4/conf/all/rp_filter': '1', 'ipv4/conf/default/rp_filter': '1' };

let lab: Lab;
let cluster: LabCluster;

afterEach(async () => {
  await cluster.stop();
  await lab.dispose();
});

interface Range {
  readonly cidr: string;
  readonly serverIP: string;
  readonly start: string;
  readonly end: string;
}

const NET_48: Range = { cidr: '192.168.48.0/24', serverIP: '192.168.48.2', start: '192.168.48.10', end: '192.168.48.99' };
const NET_49: Range = { cidr: '192.168.49.0/24', serverIP: '192.168.49.2', start: '192.168.49.10', end: '192.168.49.99' };

/** Two networks in one group of agents; resolves with the pod that leads when both pools are served. */
async function serve(ranges: readonly [Range, Range], settings: Partial<LabClusterSettings> = {}): Promise<LabPod> {
  lab = new Lab();
  lab.addNetwork('br48');
  lab.addNetwork('br49');
  cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': 'br48', 'default/vlan-49': 'br49' }, ...settings });
  // A busy machine makes no leader look lost.
  await cluster.startController('--agent-lease-seconds', '6');
  for (const [index, range] of ranges.entries()) {
    await cluster.access.create(network(`vlan-${48 + index}`));
    await cluster.access.create(pool(`net-${48 + index}`, `default/vlan-${48 + index}`, range));
  }
  await cluster.agentReady(POOL_48);
  await cluster.agentReady(POOL_49);
  await cluster.rolledOut(GROUP);
  return leader();
}

/** The pod that leads, once it has both server addresses. */
async function leader(): Promise<LabPod> {
  return waitFor('a leader with both server addresses', async () => {
    const pod = await cluster.leader(GROUP);
    const holdsBoth = [POOL_48, POOL_49].every((key) => pod !== undefined && cluster.holders(key).includes(pod));
    return holdsBoth ? pod : undefined;
  });
}

/** Resolves when the Lease of the group is renewed the next time. */
async function renewed(): Promise<void> {
  const renewedAt = async () => {
    const lease = await cluster.access.get('Lease', `${AGENT_NAMESPACE}/${GROUP}`);
    return readText(lease?.spec, 'renewTime');
  };
  const before = await renewedAt();
  await waitFor('a renewal', async () => (await renewedAt()) !== before);
}

function network(name: string): KubernetesObject {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name, labels: { 'network.harvesterhci.io/clusternetwork': 'mgmt' } },
    spec: { config: '{}' },
  };
}

function pool(name: string, networkName: string, { cidr, serverIP, start, end }: Range): KubernetesObject {
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name },
    spec: { networkName, conflictProbe: 'Disabled', ipv4Config: { cidr, serverIP, pool: { start, end }, leaseTime: 3600 } },
  };
}

/** A machine with an address that uses `router` for everything else, and knows by which hardware address to reach it. */
function attachVm(name: string, on: { network: string; address: string; router: string; routerMac?: string }): Machine {
  const last = name === 'vm-48' ? '48' : '49';
  const machine = lab.addMachine(name, { network: on.network, macAddress: `02:00:5e:00:00:${last}` });
  machine.ip('address', 'add', on.address, 'dev', 'eth0');
  if (on.routerMac !== undefined) machine.ip('neighbor', 'add', on.router, 'lladdr', on.routerMac, 'dev', 'eth0');
  machine.ip('route', 'add', 'default', 'via', on.router);
  return machine;
}

/** Hardware address of a pod's interface to a pool. */
function macOf(pod: LabPod, poolKey: string): string {
  const shown = JSON.parse(pod.machine.ip('-json', 'link', 'show', agentInterfaceName(poolKey))) as { address: string }[];
  return shown[0]?.address ?? '';
}

/** True if a host on the network answers an ARP request for the address; a sender of 0.0.0.0 asks as one that checks for conflicts. */
async function answersArp(on: string, target: string, sender: string): Promise<boolean> {
  const socket = new ArpSocket(on);
  try {
    const targetAddress = parseIpv4Address(target) ?? 0;
    socket.request({ senderAddress: parseIpv4Address(sender) ?? 0, targetAddress });
    const isAnswer = () => socket.receive().some(({ senderAddress }) => senderAddress === targetAddress);
    return await waitFor('an answer', isAnswer, 400).catch(() => false);
  } finally {
    socket.close();
  }
}

/** Asks by broadcast to prolong a lease, as a client in the state REBINDING does. */
function sendRebinding(on: string, macAddress: string, clientAddress: string): void {
  const address = parseIpv4Address(clientAddress) ?? 0;
  const { bytes } = encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 0, flags: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    ciaddr: address,
    chaddr: macAddressBytes(macAddress),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [[53, Uint8Array.of(3)]],
  });
  const socket = new PacketSocket(on);
  socket.broadcast(bytes, { sourceAddress: address, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 });
  socket.close();
}

/**
 * Resolves when there are as many answers as requests since this one. A client whose unicast is not answered asks by broadcast a second
 * later, and no more once that is answered.
 */
async function everyRequestAnswered(wire: PacketCapture, since: CapturedMessage): Promise<void> {
  await waitFor('an answer to each request', () => {
    const types = wire.messages.filter(({ atMs }) => atMs >= since.atMs).map(({ type }) => type);
    const count = (wanted: string) => types.filter((type) => type === wanted).length;
    return count('ack') > 0 && count('ack') === count('request');
  });
}

describe('a pod of agents on two networks, on a node that forwards', () => {
  it('a virtual machine reaches neither another network, nor the pods, nor their status server', async () => {
    const pod = await serve([NET_48, NET_49], { podSysctls: FORWARDING_NODE });
    for (const { machine } of cluster.pods.values()) machine.ip('route', 'add', 'default', 'via', '10.99.255.1');
    const office = lab.addMachine('office', { network: 'br-mgmt', macAddress: '02:00:5e:00:99:01' });
    office.ip('address', 'add', '10.99.254.1/16', 'dev', 'eth0');
    office.ip('route', 'add', '192.168.0.0/16', 'via', pod.address);
    const from = attachVm('vm-48', {
      network: 'br48',
      address: '192.168.48.77/24',
      router: '192.168.48.2',
      routerMac: macOf(pod, POOL_48),
    });
    attachVm('vm-49', { network: 'br49', address: '192.168.49.77/24', router: '192.168.49.2', routerMac: macOf(pod, POOL_49) });

    expect(await reach(office, pod.address, 8080), 'the kubelet, and a reader of metrics').toBe('open');
    expect(await reach(from, '192.168.48.2', 9), 'its own server address, which answers where it was asked').toBe('refused');
    expect(await reach(from, '192.168.49.77', 9), 'a machine of the other network').toBe('silent');
    expect(await reach(from, '10.99.254.1', 9), 'a machine of the management network').toBe('silent');
    expect(await reach(from, '192.168.49.2', 9), 'the server address of the other network').toBe('silent');
    expect(await reach(from, pod.address, 8080), 'the status server').not.toBe('open');
    expect(await reach(from, pod.address, 9), 'the pod').toBe('silent');
    expect(await reach(office, '192.168.48.77', 9), 'a machine of a network, from the management network').toBe('silent');
  });

  it('forwarding that is turned on again is turned off within seconds, and lets nothing pass meanwhile', async () => {
    const pod = await serve([NET_48, NET_49], { podSysctls: FORWARDING_NODE });
    const name = agentInterfaceName(POOL_48);
    const from = attachVm('vm-48', {
      network: 'br48',
      address: '192.168.48.77/24',
      router: '192.168.48.2',
      routerMac: macOf(pod, POOL_48),
    });
    attachVm('vm-49', { network: 'br49', address: '192.168.49.77/24', router: '192.168.49.2', routerMac: macOf(pod, POOL_49) });
    expect(pod.machine.sysctl(`ipv4/conf/${name}/forwarding`)).toBe('0');
    pod.machine.setSysctls({ 'ipv4/ip_forward': '0' });
    pod.machine.setSysctls({ 'ipv4/ip_forward': '1' });
    expect(await reach(from, '192.168.49.77', 9)).toBe('silent');
    await waitFor('forwarding to be off', () => pod.machine.sysctl(`ipv4/conf/${name}/forwarding`) === '0');
    await pod.process?.line('the agent corrected it');
    pod.machine.ip('rule', 'delete', 'iif', name, 'blackhole');
    await waitFor('the rule to be there', () => pod.machine.ip('rule', 'list').includes(`iif ${name} blackhole`));
  });

  it('ARP is answered for the server address of the network and for nothing else', async () => {
    const pod = await serve([NET_48, NET_49], { podSysctls: FORWARDING_NODE });
    const ask = (target: string, sender: string) => answersArp('br48', target, sender);
    for (const sender of ['192.168.48.77', '0.0.0.0']) {
      expect(await ask('192.168.48.2', sender), `its own, asked by ${sender}`).toBe(true);
      expect(await ask('192.168.49.2', sender), `that of another network, asked by ${sender}`).toBe(false);
      expect(await ask(pod.address, sender), `the pod's, asked by ${sender}`).toBe(false);
    }
  });

  it('a router advertisement of a virtual machine changes nothing in the pod', async () => {
    const pod = await serve([NET_48, NET_49]);
    const from = attachVm('vm-48', { network: 'br48', address: '192.168.48.77/24', router: '192.168.48.2' });
    await waitFor('a virtual machine that believes it', () => {
      advertiseRouter('br48', 'fd000bad00000000');
      return from.ip('-6', 'address').includes('fd00:bad:');
    });
    expect(pod.machine.ip('-6', 'address')).not.toContain('fd00:bad:');
    expect(pod.machine.ip('-6', 'route')).not.toContain('default');
  });

  it('addresses and routes from a router advertisement before the agent ran are removed', async () => {
    const advertising = setInterval(() => {
      try {
        advertiseRouter('br48', 'fd000bad00000000');
      } catch {
        // The network is not there yet.
      }
    }, 20);
    try {
      const pod = await serve([NET_48, NET_49]);
      const name = agentInterfaceName(POOL_48);
      const left = () =>
        pod.machine.ip('-6', 'address', 'show', 'dev', name) + pod.machine.ip('-6', 'route', 'show', 'dev', name);
      expect(left()).toBe('');
      expect(pod.machine.ip('-6', 'address', 'show', 'dev', 'eth0'), "the pod's own address").toContain('inet6');
      pod.machine.ip('-6', 'route', 'add', 'fc00::/7', 'dev', name, 'proto', 'kernel');
      pod.machine.ip('-6', 'address', 'add', 'fd00:bad::7/64', 'dev', name);
      await waitFor('both to be gone', () => left() === '');
      expect(pod.machine.ip('-d', 'link', 'show', name), 'the kernel makes none').toContain('addrgenmode none');
    } finally {
      clearInterval(advertising);
    }
  });
});

describe('server addresses and the routes of a pod', { tags: ['nightly'] }, () => {
  it('a pool whose range covers the API server is served, and so is every other pool of the group', async () => {
    const all: Range = { cidr: '10.0.0.0/8', serverIP: '10.0.0.2', start: '10.0.1.10', end: '10.0.1.99' };
    // Half of 10.99.0.0/16, and so a better match than the route to the API server that the pod has.
    const close: Range = { cidr: '10.99.128.0/17', serverIP: '10.99.128.2', start: '10.99.129.10', end: '10.99.129.99' };
    const pod = await serve([all, close]);
    await renewed();
    expect(pod.machine.ip('route', 'show')).not.toContain(agentInterfaceName(POOL_48));
    expect(await leader(), 'the leader has not changed').toBe(pod);
  });

  it('a pool whose server address is that of the API server is not served, reports that, and does not affect the other pools', async () => {
    await serve([NET_48, NET_49]);
    const transitions = async () => {
      const lease = await cluster.access.get('Lease', `${AGENT_NAMESPACE}/${GROUP}`);
      return readField(lease?.spec, 'leaseTransitions');
    };
    const api: Range = { cidr: '10.99.0.0/16', serverIP: '10.99.255.1', start: '10.99.128.10', end: '10.99.128.99' };
    await cluster.access.delete('IPPool', POOL_49);
    await waitFor('the pool to be gone', async () => (await cluster.access.get('IPPool', POOL_49)) === undefined);
    await cluster.access.create(pool('net-49', 'default/vlan-49', api));
    const refused = await cluster.access.waitForObject('IPPool', POOL_49, ({ status }) =>
      readConditions(status).some(({ type, reason }) => type === 'AgentReady' && reason === 'ServerAddressRefused'),
    );
    expect(JSON.stringify(refused.status)).toContain('is that of the API server');
    expect(cluster.holders(POOL_49)).toEqual([]);
    await cluster.rolledOut(GROUP);
    const pod = await waitFor('a leader', () => cluster.leader(GROUP));
    const before = await transitions();
    for (let renewals = 0; renewals < 2; renewals++) await renewed();
    expect(cluster.holders(POOL_48), 'the other pool is served').toEqual([pod]);
    expect(await transitions(), 'the leader has not changed').toBe(before);
  });

  it('a connected route that an earlier version left is removed', async () => {
    const pod = await serve([NET_48, NET_49]);
    const name = agentInterfaceName(POOL_48);
    pod.machine.ip('route', 'add', '192.168.48.0/24', 'dev', name, 'proto', 'kernel', 'scope', 'link', 'src', '192.168.48.2');
    await waitFor('the route to be gone', () => !pod.machine.ip('route', 'show').includes(name));
  });

  it.runIf(has('udhcpc')).each([
    { node: 'no check of source addresses', podSysctls: { 'ipv4/conf/all/rp_filter': '0' } },
    { node: 'a strict check of source addresses', podSysctls: FORWARDING_NODE },
  ])(
    `two networks with the same range: a client whose address is the server address of the other one is served, renewals included: $node ${needs('udhcpc')}`,
    async ({ podSysctls }) => {
      const second: Range = { ...NET_48, serverIP: '192.168.48.3', start: '192.168.48.2', end: '192.168.48.2' };
      await serve([NET_48, second], { podSysctls });
      await cluster.access.create(virtualMachine('default/vm-49', CLIENT_49, 'default/vlan-49'));
      const machine = lab.addMachine('vm-49', { network: 'br49', macAddress: CLIENT_49 });
      const wire = new PacketCapture('v-vm-49');
      const client = startClient('udhcpc', machine);
      expect(await client.event('bound')).toMatchObject({ address: '192.168.48.2' });
      const sinceMs = performance.now();
      client.process.kill('SIGUSR1');
      const request = await wire.expect(
        'a renewal',
        ({ type, to, atMs }) => type === 'request' && to === '192.168.48.3' && atMs >= sinceMs,
      );
      await everyRequestAnswered(wire, request);
      const rebindsAtMs = performance.now();
      sendRebinding('br49', CLIENT_49, '192.168.48.2');
      await wire.expect('an answer to its broadcast', ({ type, atMs }) => type === 'ack' && atMs >= rebindsAtMs);
      wire.stop();
    },
  );

  const OTHER_SERVER: Range = { ...NET_48, serverIP: '192.168.48.3' };
  it.runIf(has('udhcpc')).each([
    {
      node: 'no check of source addresses',
      podSysctls: { 'ipv4/conf/all/rp_filter': '0' },
      router: '10.99.255.1',
      second: NET_48,
    },
    { node: 'a strict check of source addresses', podSysctls: FORWARDING_NODE, router: '10.99.255.1', second: NET_48 },
    { node: 'a strict check, and no default route', podSysctls: FORWARDING_NODE, router: undefined, second: NET_48 },
    {
      node: 'a strict check and an ARP filter',
      podSysctls: { ...FORWARDING_NODE, 'ipv4/conf/all/arp_filter': '1' },
      router: '10.99.255.1',
      second: OTHER_SERVER,
    },
  ])(
    `two networks with the same range are both served, renewals by unicast included: $node ${needs('udhcpc')}`,
    async ({ podSysctls, router, second }) => {
      const pod = await serve([NET_48, second], { podSysctls });
      if (router !== undefined)
        for (const { machine } of cluster.pods.values()) machine.ip('route', 'add', 'default', 'via', router);
      for (const [last, { serverIP }] of [['48', NET_48] as const, ['49', second] as const]) {
        await cluster.access.create(virtualMachine(`default/vm-${last}`, `02:00:5e:00:00:${last}`, `default/vlan-${last}`));
        const machine = lab.addMachine(`vm-${last}`, { network: `br${last}`, macAddress: `02:00:5e:00:00:${last}` });
        const wire = new PacketCapture(`v-vm-${last}`);
        const client = startClient('udhcpc', machine);
        expect(await client.event('bound')).toMatchObject({ address: '192.168.48.10' });
        // From the client's address to the server's, which it asks for by ARP.
        client.process.kill('SIGUSR1');
        const request = await wire.expect('a renewal', ({ type, to }) => type === 'request' && to === serverIP);
        expect(request.from).toBe('192.168.48.10');
        const isItsAnswer = ({ type, from, to, atMs }: CapturedMessage) =>
          type === 'ack' && from === serverIP && to === '192.168.48.10' && atMs >= request.atMs;
        await wire.expect('its answer', isItsAnswer);
        await everyRequestAnswered(wire, request);
        expect(await client.event('renew')).toMatchObject({ address: '192.168.48.10' });
        wire.stop();
      }
      expect(await leader()).toBe(pod);
    },
  );
});
