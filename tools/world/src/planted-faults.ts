/** Faults that are planted, one at a time, to test the auditor: it must find each of them. */
import type { ReceivedReview } from '@vmdhcp/admission/webhook';
import type { GroupLease } from '@vmdhcp/dhcp-agent';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import type { FakePod } from '@vmdhcp/dhcp-agent/testing';
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import { LEAVING_ANNOTATION, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import type { ElectionTimes, KubernetesObject, LeaseStore, ResourcePort } from '@vmdhcp/kube-runtime';
import type { ApiRequest, ApiTransport } from '@vmdhcp/kube-runtime/node';
import type { JsonObject } from '@vmdhcp/kube-simulator';
import type { openFileRecords } from '@vmdhcp/lease-stores';
import { CLONED_IDENTIFIER } from './guests/dhcp-client.js';
import { type DhcpPacket, Option, readPacket } from './network/dhcp-packet.js';
import { Dhcpv6Option, dhcpv6ValueIn, readDhcpv6 } from './network/dhcpv6-packet.js';

type OpenedLeases = Awaited<ReturnType<typeof openFileRecords>>;

export interface PlantedFault {
  /** A description for people. */
  readonly what: string;
  /** A story that showed it last time, where the search begins; 1 if left out. Acts change, and with them what a seed plays. */
  readonly seed?: number;
  /** What agents send instead of a reply; undefined: nothing. */
  readonly wire?: (octets: Uint8Array, server: string) => Uint8Array | undefined;
  /** What agents send instead of a reply of DHCPv6 or a Router Advertisement; undefined: nothing. */
  readonly ipv6Wire?: (octets: Uint8Array) => Uint8Array | undefined;
  /** Makes an agent's surroundings faulty. */
  readonly agent?: (pod: FakePod) => void;
  readonly lease?: (lease: GroupLease) => GroupLease;
  readonly pools?: (pools: ResourcePort<KubernetesObject>) => ResourcePort<KubernetesObject>;
  readonly election?: ElectionTimes;
  /** The network behind an interface. @param networks - in order */
  readonly network?: (name: string, networks: readonly string[]) => string;
  /** True if it only shows in stories without Harvester. */
  readonly isPlain?: true;
  /** True if it only shows in stories with Wake-on-LAN. */
  readonly needsWakeOnLan?: true;
  /** The address of a magic packet as agents hear it; undefined if they do not. */
  readonly magicPacket?: (macAddress: string) => string | undefined;
  /** True if it only shows in stories with IPv6. */
  readonly needsIpv6?: true;
  /** True if it only shows in stories with bare-metal hosts. */
  readonly needsRack?: true;
  /** What an agent of a ClusterAgent reads from its disk, and where it stores leases. */
  readonly leases?: (opened: OpenedLeases) => OpenedLeases;
  /** True if the ARP probes of agents of a ClusterAgent find nobody. */
  readonly isRackBlind?: true;
  /** The connection of an agent of a ClusterAgent to the LeaseSlices in which it stores leases. */
  readonly leaseSlices?: (transport: ApiTransport) => ApiTransport;
  /** Changes the webhook's answer, an AdmissionReview. */
  readonly admission?: (answer: JsonObject, review: ReceivedReview) => JsonObject;
  /** Replaces a request of the controller to the API server. */
  readonly controller?: (transport: ApiTransport) => ApiTransport;
}

const YIADDR = 16;
/** The last octet of yiaddr. */
const LAST = YIADDR + 3;
/** Source: RFC 2132 §9.6. */
const NAK = 6;
const FOR_EVER_SECONDS = 0xffffffff;

export const PLANTED_FAULTS: Readonly<Record<string, PlantedFault>> = {
  'one-address-for-all': {
    what: 'agents give every client the same address',
    wire: onReply((octets) => change(octets, LAST, () => 10)),
  },
  'wrong-address': {
    what: 'agents give every client the address after its own',
    wire: onReply((octets) => change(octets, LAST, (octet) => octet + 1)),
  },
  'swapped-addresses': {
    what: 'agents swap the addresses of neighbours',
    wire: onReply((octets) => change(octets, LAST, (octet) => octet ^ 1)),
  },
  'address-by-transaction': {
    what: 'an agent gives another address every second time',
    wire: onReply((octets, { xid }) => change(octets, LAST, (octet) => octet + (xid & 1))),
  },
  'clones-behind-a-relay': {
    seed: 7,
    what: 'agents choose the address of a client behind a relay by its client identifier alone',
    wire: onReply((octets, { giaddr, options }) => {
      if (giaddr !== '0.0.0.0' && options.has(Option.clientIdentifier)) change(octets, LAST, () => 10);
    }),
  },
  'relay-information-changed': {
    seed: 7,
    what: 'agents change what a relay added to a message',
    wire: onReply((octets) => change(optionOf(octets, Option.relayAgentInformation), 3, (octet) => octet ^ 1)),
  },
  'wrong-server-identifier': {
    what: 'agents name another server',
    wire: onReply((octets) => change(optionOf(octets, Option.serverIdentifier), 3, (octet) => octet ^ 1)),
  },
  'wrong-router': {
    what: 'agents name another router',
    wire: onReply((octets) => change(optionOf(octets, Option.router), 3, () => 77)),
  },
  'other-lease-times': {
    what: 'agents give leases of another time than the pool has',
    wire: onReply((octets) => change(optionOf(octets, Option.leaseSeconds), 1, () => 9)),
  },
  'refused-reboots': {
    seed: 2,
    what: 'agents refuse clients that ask for their last address after a restart',
    wire: refusing(({ requested, isRenewal }) => requested && !isRenewal),
  },
  'refused-renewals': {
    seed: 3,
    what: 'agents refuse renewals',
    wire: refusing(({ isRenewal }) => isRenewal),
  },
  'no-acknowledgements': {
    seed: 3,
    what: 'agents offer, and never acknowledge',
    wire: (octets) => (readPacket(octets)?.type === 'ack' ? undefined : octets),
  },
  'silent-agents': { seed: 2, what: 'agents answer nobody', wire: () => undefined },
  'one-silent-agent': {
    seed: 4,
    what: 'one agent in two answers nobody, and leads',
    wire: (octets, server) => (server.charCodeAt(server.length - 1) % 2 === 0 ? undefined : octets),
  },
  'addresses-for-ever': {
    seed: 3,
    what: 'server addresses have no lifetime in the kernel',
    agent: ({ kernel }) => {
      const { add } = kernel;
      override(kernel, { add: (addresses) => add(addresses, FOR_EVER_SECONDS) });
    },
  },
  'addresses-not-removed': {
    seed: 6,
    what: 'an agent that stops leaves its server addresses',
    agent: ({ kernel }) => override(kernel, { remove: () => true }),
  },
  'addresses-not-added': {
    seed: 2,
    what: 'the kernel takes server addresses, and does not have them',
    agent: ({ kernel }) => override(kernel, { add: (addresses) => addresses.map(() => undefined) }),
  },
  'everybody-leads': {
    seed: 3,
    what: 'each write of a Lease succeeds for its writer',
    lease: withStore((store) => ({
      ...store,
      write: async (record, version) => (await store.write(record, version)) ?? { record, version: version ?? '1' },
    })),
  },
  'nobody-takes-over': {
    seed: 2,
    what: 'a standby never becomes leader after another',
    lease: withStore((store) => ({
      read: async () => {
        const stored = await store.read();
        return (
          stored && { ...stored, record: { ...stored.record, holder: stored.record.holder || 'nobody', leaseDurationMs: 1e9 } }
        );
      },
      write: store.write,
    })),
  },
  'leaders-without-end': {
    seed: 6,
    what: 'a leader that cannot renew stays leader for longer than its Lease lasts',
    election: { ...electionTimes(2.75), leaseDurationMs: 30_000, renewDeadlineMs: 29_000 },
    lease: withStore((store) => ({
      ...store,
      write: (record, version) => store.write({ ...record, leaseDurationMs: Math.min(record.leaseDurationMs, 2_750) }, version),
    })),
  },
  'suspended-pools-served': {
    seed: 6,
    what: 'agents do not read which pools are suspended for their group',
    lease: ({ store, watch }) => ({
      store: (content) =>
        store({
          ...content,
          onAnnotations: (annotations, version) => content.onAnnotations(withoutSuspended(annotations), version),
        }),
      watch: (onSeen) => watch((lease) => onSeen(lease && { ...lease, annotations: withoutSuspended(lease.annotations) })),
    }),
  },
  'stale-pools': {
    seed: 2,
    what: 'agents never hear of a change of a pool',
    pools: (pools) => ({
      ...pools,
      list: pools.list,
      watch: (version, { onEnd }) => pools.watch(version, { onEvent: () => undefined, onEnd }),
    }),
  },
  'inverted-probe': {
    what: 'ARP probes find a user where there is none, and none where there is one',
    agent: (pod) => {
      // A different host for each address, because a host that uses them all is recognized as a liar.
      const hostOf = (address: number) => `02:ff:00:00:00:${(address & 255).toString(16).padStart(2, '0')}` as MacAddress;
      const { addressUse } = pod;
      pod.addressUse = async (interfaceName, address, macAddress) => {
        const { byClient, others } = await addressUse(interfaceName, address, macAddress);
        return { byClient, others: others.length > 0 ? [] : [hostOf(address)] };
      };
    },
  },
  'swapped-networks': {
    what: 'interfaces of agents are on the network of another pool',
    network: (name, networks) => networks[(networks.indexOf(name) + 1) % networks.length] ?? name,
  },
  'agents-anywhere': {
    seed: 38,
    what: 'agents run on any node, also where their network is missing',
    isPlain: true,
    controller: (transport) => ({
      request: (request) =>
        transport.request(request.path.includes('/deployments') ? { ...request, body: withoutPlacement(request.body) } : request),
      stream: (request, handlers) => transport.stream(request, handlers),
    }),
  },
  'ipv6-address-by-duid': {
    seed: 4,
    what: 'agents choose the IPv6 address of a client by its DUID',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) => {
      const duid = dhcpv6ValueIn(octets, [Dhcpv6Option.clientIdentifier]) ?? new Uint8Array(0);
      if (Buffer.compare(duid, CLONED_IDENTIFIER) === 0) change(addressIn(octets), 15, () => 10);
    }),
  },
  'wrong-ipv6-address': {
    what: 'agents give every client the IPv6 address after its own',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) => change(addressIn(octets), 15, (octet) => octet + 1)),
  },
  'former-ipv6-prefix': {
    what: 'agents give addresses of another prefix than the pool has',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) => change(addressIn(octets), 7, (octet) => octet ^ 16)),
  },
  'withdrawn-ipv6-addresses': {
    what: 'agents withdraw IPv6 addresses when they are renewed',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) => {
      // Valid lifetime.
      if (readDhcpv6(octets)?.type === 'reply') addressIn(octets).fill(0, 20, 24);
    }),
  },
  'other-ipv6-lease-times': {
    what: 'agents give IPv6 leases of another time than the pool has',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) => change(addressIn(octets), 21, () => 9)),
  },
  'wrong-dhcpv6-server': {
    what: 'agents name another DHCPv6 server',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) =>
      change(dhcpv6ValueIn(octets, [Dhcpv6Option.serverIdentifier]) ?? new Uint8Array(0), 5, (octet) => octet ^ 1),
    ),
  },
  'other-duids': {
    what: 'agents name another client in replies of DHCPv6',
    needsIpv6: true,
    ipv6Wire: onAddress((octets) =>
      change(dhcpv6ValueIn(octets, [Dhcpv6Option.clientIdentifier]) ?? new Uint8Array(0), 5, (octet) => octet ^ 1),
    ),
  },
  'no-dhcpv6-replies': {
    what: 'agents advertise IPv6 addresses, and never assign them',
    needsIpv6: true,
    ipv6Wire: (octets) => (readDhcpv6(octets)?.type === 'reply' ? undefined : octets),
  },
  'no-router-advertisements': {
    what: 'agents send no Router Advertisements',
    needsIpv6: true,
    ipv6Wire: (octets) => (readDhcpv6(octets) === undefined ? undefined : octets),
  },
  'wrong-ipv6-statuses': {
    what: 'statuses of VirtualMachineNetworkConfigs show another IPv6 address',
    needsIpv6: true,
    controller: edited('PATCH', '/virtualmachinenetworkconfigs/', (body) =>
      at(body, ['status', 'networkConfigs'], (entries) =>
        (entries as { allocatedIPv6Address?: string }[] | null)?.map((entry) =>
          entry.allocatedIPv6Address === undefined ? entry : { ...entry, allocatedIPv6Address: `${entry.allocatedIPv6Address}f` },
        ),
      ),
    ),
  },
  'no-assignments': {
    seed: 2,
    what: 'the controller assigns no address',
    controller: edited('PATCH', '/ippools/', (body) => at(body, ['status', 'ipv4', 'allocated'], () => undefined)),
  },
  'leases-forgotten': {
    seed: 7,
    what: 'an agent of a ClusterAgent begins without the leases that are stored',
    needsRack: true,
    leases: (opened) => ({ ...opened, tables: new Map() }),
  },
  'leases-not-stored': {
    seed: 3,
    what: 'an agent of a ClusterAgent acknowledges leases that it does not store',
    needsRack: true,
    leases: (opened) => ({ ...opened, store: withoutAppend(opened.store) }),
  },
  'blind-rack-agents': {
    seed: 4,
    what: 'agents of a ClusterAgent do not notice that a host uses an address',
    needsRack: true,
    isRackBlind: true,
  },
  'lease-slices-forgotten': {
    seed: 7,
    what: 'an agent of a ClusterAgent begins without the leases in LeaseSlices',
    needsRack: true,
    leaseSlices: (transport) => ({
      request: async (request) => {
        const answer = await transport.request(request);
        return isMeant(request, 'GET', '/leaseslices/') ? at(answer, ['spec', 'records'], () => '') : answer;
      },
      stream: (request, handlers) => transport.stream(request, handlers),
    }),
  },
  'everything-accepted': {
    what: 'the webhook refuses nothing',
    admission: (answer) => at(answer, ['response', 'allowed'], () => true) as JsonObject,
  },
  'changes-refused': {
    what: 'the webhook refuses all changes of pools',
    admission: (answer, { resource, request: { operation } }) =>
      resource === 'ippools' && operation === 'UPDATE'
        ? (at(answer, ['response', 'allowed'], () => false) as JsonObject)
        : answer,
  },
  'ranges-ignored': {
    seed: 35,
    what: 'the controller does not read the ranges of a pool',
    controller: heard('/ippools', (line) => line.replaceAll('"ranges"', '"formerRanges"')),
  },
  'addresses-never-freed': {
    seed: 3,
    what: 'the controller frees no address',
    controller: edited('PATCH', '/ippools/', (body) =>
      at(body, ['status', 'ipv4', 'allocated'], (allocated) =>
        Object.fromEntries(Object.entries(allocated as object).filter(([, value]) => value !== null)),
      ),
    ),
  },
  'all-addresses-shifted': {
    what: 'the controller records the address after the one that it reports',
    controller: edited('PATCH', '/ippools/', (body) =>
      at(body, ['status', 'ipv4', 'allocated'], (allocated) =>
        Object.fromEntries(Object.entries(allocated as object).map(([address, value]) => [following(address), value])),
      ),
    ),
  },
  'one-address-recorded': {
    what: 'the controller records the first address of the pool for everybody',
    controller: edited('PATCH', '/ippools/', (body) =>
      at(body, ['status', 'ipv4', 'allocated'], (allocated) =>
        Object.fromEntries(Object.entries(allocated as object).map(([address, value]) => [address.replace(/\d+$/, '10'), value])),
      ),
    ),
  },
  'wrong-statuses': {
    seed: 6,
    what: 'statuses of VirtualMachineNetworkConfigs show another address',
    controller: edited('PATCH', '/virtualmachinenetworkconfigs/', (body) =>
      at(body, ['status', 'networkConfigs'], (entries) =>
        (entries as { allocatedIPAddress?: string }[] | null)?.map((entry) =>
          entry.allocatedIPAddress === undefined ? entry : { ...entry, allocatedIPAddress: following(entry.allocatedIPAddress) },
        ),
      ),
    ),
  },
  'no-statuses': {
    seed: 6,
    what: 'statuses of VirtualMachineNetworkConfigs are not written',
    controller: dropped('PATCH', '/virtualmachinenetworkconfigs/'),
  },
  'no-agents': { seed: 2, what: 'the controller deploys no agents', controller: dropped('POST', '/deployments') },
  'ready-without-agents': {
    seed: 2,
    what: 'pools say that agents serve them, and no agent has their server address',
    agent: ({ kernel }) => override(kernel, { add: (addresses) => addresses.map(() => undefined) }),
    controller: edited('PATCH', '/ippools/', (body) =>
      at(body, ['status', 'conditions'], (conditions) =>
        (conditions as { type: string }[] | null)?.map((one) => (one.type === 'AgentReady' ? { ...one, status: 'True' } : one)),
      ),
    ),
  },
  'deaf-to-deletions': {
    seed: 11,
    what: 'the controller does not hear that a VirtualMachineNetworkConfig is to be deleted',
    controller: heard('/virtualmachinenetworkconfigs', (line) => (line.includes('"deletionTimestamp"') ? undefined : line)),
  },
  'deaf-to-instances': {
    seed: 12,
    what: 'the controller does not hear of instances',
    controller: heard('/virtualmachineinstances', () => undefined),
  },
  'moved-too-early': {
    what: 'the controller takes a machine for moved as soon as its instance has another network',
    controller: edited('PATCH', '/virtualmachinenetworkconfigs/', (body) => withoutLeaving(body)),
  },
  'pins-ignored': {
    seed: 4,
    what: 'the controller does not read pins',
    controller: heard('/virtualmachines', (line) => line.replaceAll(STATIC_IP_ANNOTATION_PREFIX, 'example.org/')),
  },
  'wakes-nobody': {
    seed: 3,
    what: 'the manager never asks KubeVirt to start a machine',
    controller: dropped('PUT', '/start'),
    needsWakeOnLan: true,
  },
  'wakes-another': {
    seed: 4,
    what: 'the manager starts another machine',
    needsWakeOnLan: true,
    controller: (transport) => ({
      request: (request) => {
        const path = request.path.replace(/vm-(\d+)\/start$/, (_all, number: string) => `vm-${Number(number) - 1}/start`);
        return transport.request({ ...request, path });
      },
      stream: (request, handlers) => transport.stream(request, handlers),
    }),
  },
  'wakes-twice': {
    seed: 4,
    what: 'the manager asks KubeVirt twice for each start',
    needsWakeOnLan: true,
    controller: (transport) => ({
      request: async (request) => {
        if (isMeant(request, 'PUT', '/start')) await transport.request(request).catch(() => undefined);
        return await transport.request(request);
      },
      stream: (request, handlers) => transport.stream(request, handlers),
    }),
  },
  'wakes-everybody': {
    seed: 5,
    what: 'the manager does not read which machines a WolConfig selects',
    needsWakeOnLan: true,
    controller: heard('/wolconfigs', (line) => line.replaceAll('"LabelSelector"', '"All"')),
  },
  'deaf-to-magic-packets': {
    seed: 5,
    what: 'agents hear no magic packet',
    magicPacket: () => undefined,
    needsWakeOnLan: true,
  },
  'other-magic-packets': {
    what: 'agents report another MAC address than the one of the packet',
    needsWakeOnLan: true,
    magicPacket: (macAddress) =>
      macAddress.replace(/..$/, (octet) => (Number.parseInt(octet, 16) ^ 4).toString(16).padStart(2, '0')),
  },
};

function onReply(edit: (octets: Uint8Array, packet: DhcpPacket) => void): NonNullable<PlantedFault['wire']> {
  return (octets) => {
    const packet = readPacket(octets);
    if (packet?.type !== 'offer' && packet?.type !== 'ack') return octets;
    const copy = octets.slice();
    edit(copy, packet);
    return copy;
  };
}

/** Changes replies of DHCPv6 that have an address. */
function onAddress(edit: (octets: Uint8Array) => void): NonNullable<PlantedFault['ipv6Wire']> {
  return (octets) => {
    if ((readDhcpv6(octets)?.addresses.length ?? 0) === 0) return octets;
    const copy = octets.slice();
    edit(copy);
    return copy;
  };
}

/** The address of a reply and its lifetimes, in the message itself. */
function addressIn(octets: Uint8Array): Uint8Array {
  return dhcpv6ValueIn(octets, [Dhcpv6Option.association, Dhcpv6Option.address]) ?? new Uint8Array(24);
}

/** An ACK of this kind becomes a NAK. `requested`: without an offer before it. */
function refusing(
  isMeant: (ack: { readonly isRenewal: boolean; readonly requested: boolean }) => boolean,
): NonNullable<PlantedFault['wire']> {
  let offered = new Set<number>();
  return (octets) => {
    const packet = readPacket(octets);
    if (packet?.type === 'offer') offered = offered.add(packet.xid);
    if (packet?.type !== 'ack') return octets;
    if (!isMeant({ isRenewal: packet.ciaddr !== '0.0.0.0', requested: !offered.has(packet.xid) })) return octets;
    const copy = octets.slice();
    copy.fill(0, YIADDR, YIADDR + 4);
    change(optionOf(copy, Option.messageType), 0, () => NAK);
    return copy;
  };
}

function change(octets: Uint8Array, at: number, to: (octet: number) => number): void {
  octets[at] = to(octets[at] ?? 0);
}

/** The octets of an option, in the packet itself. */
function optionOf(octets: Uint8Array, option: number): Uint8Array {
  return readPacket(octets)?.options.get(option) ?? new Uint8Array(4);
}

function withoutAppend(store: OpenedLeases['store']): OpenedLeases['store'] {
  return { append: async () => undefined, replace: async () => undefined, isLong: () => false, close: () => store.close() };
}

function override(kernel: FakePod['kernel'], calls: Partial<Pick<FakePod['kernel'], 'add' | 'remove'>>): void {
  Object.assign(kernel, calls);
}

function withStore(change: (store: LeaseStore) => LeaseStore): NonNullable<PlantedFault['lease']> {
  return ({ store, watch }) => ({ store: (content) => change(store(content)), watch });
}

function withoutSuspended(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [SUSPENDED_POOLS_ANNOTATION]: _suspended, ...others } = annotations;
  return others;
}

type Wrap = NonNullable<PlantedFault['controller']>;

function isMeant({ method, path }: ApiRequest, verb: ApiRequest['method'], part: string): boolean {
  return method === verb && path.includes(part);
}

function edited(verb: ApiRequest['method'], part: string, edit: (body: unknown) => unknown): Wrap {
  return (transport) => ({
    request: (request) => transport.request(isMeant(request, verb, part) ? { ...request, body: edit(request.body) } : request),
    stream: (request, handlers) => transport.stream(request, handlers),
  });
}

/** Echoes the request as the answer, so its sender believes that it succeeded. */
function dropped(verb: ApiRequest['method'], part: string): Wrap {
  return (transport) => ({
    request: async (request) => (isMeant(request, verb, part) ? request.body : await transport.request(request)),
    stream: (request, handlers) => transport.stream(request, handlers),
  });
}

/** Changes the watch events of a kind, but not its lists. */
function heard(part: string, change: (line: string) => string | undefined): Wrap {
  return (transport) => ({
    request: async (request) => {
      const answer = await transport.request(request);
      const isList = request.method === 'GET' && request.path.includes(`${part}?`);
      const text = isList ? change(JSON.stringify(answer)) : undefined;
      return text === undefined ? answer : JSON.parse(text);
    },
    stream: (request, handlers) =>
      transport.stream(request, {
        ...handlers,
        onLine: (line) => {
          const text = request.path.includes(`${part}?`) ? change(line) : line;
          if (text !== undefined) handlers.onLine(text);
        },
      }),
  });
}

/** The body with another value at this path, unchanged if it has none there. */
function at(body: unknown, [first, ...rest]: readonly string[], change: (value: unknown) => unknown): unknown {
  if (first === undefined) return change(body);
  if (typeof body !== 'object' || body === null || !(first in body)) return body;
  return { ...body, [first]: at((body as Record<string, unknown>)[first], rest, change) };
}

function following(address: string): string {
  return address.replace(/\d+$/, (octet) => String(Number(octet) + 1));
}

/** Frees the addresses of networks that running guests may still use. */
function withoutLeaving(body: unknown): unknown {
  const networks = new Set<string>();
  const patch = at(body, ['metadata', 'annotations', LEAVING_ANNOTATION], (text) => {
    for (const identity of Object.keys(JSON.parse(typeof text === 'string' ? text : '{}') as object))
      networks.add(identity.split(' ')[0] ?? '');
    return null;
  });
  return at(patch, ['spec', 'networkConfigs'], (entries) =>
    (entries as { networkName: string }[]).filter(({ networkName }) => !networks.has(networkName)),
  );
}

function withoutPlacement(body: unknown): unknown {
  const text = JSON.stringify(body) ?? 'null';
  return JSON.parse(text.replaceAll(/,?"bridge\.network\.kubevirt\.io\/[^"]+":"\d+"/g, ''), (key, value: unknown) =>
    key === 'affinity' ? undefined : value,
  );
}
