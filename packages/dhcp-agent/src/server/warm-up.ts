/**
 * The first packets after a start come all at once, when every virtual machine of a node asks, and the engine has not compiled the packet path yet.
 * So the warm-up runs first: a server with made-up clients answers messages inside the process until the path is compiled.
 */
import {
  type Assignment,
  CLIENT_PORT,
  formatIpv4Address,
  macAddressBytes,
  type Pool,
  parseIpv4Address,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import type { PacketSender } from '../ports.js';
import { encodeClientPacket } from '../probe/client-packet.js';
import { AgentTraffic } from '../traffic/agent-traffic.js';
import { DhcpServer } from './dhcp-server.js';

/** Reserved for documentation, so that no network has it. Source: RFC 5737 §3. */
const CIDR = '192.0.2.0/24';
/** As large as a real time: numbers that fit 31 bits have another representation, and code compiled for it would be discarded. */
const NOW_MS = 1_700_000_000_000;
/** The packets of a burst and the time between bursts: more packets than are noted for their clients, so that both paths are compiled. */
const BURST = 64;
const MS_OF_BURST = 12;
const SENDER: PacketSender = { address: 0, port: CLIENT_PORT };
const CLIENTS = 200;
const LARGEST_REPLY = 1_472;
/** Enough for the engine to compile everything; more takes time and changes nothing. */
const ENOUGH = 20_000;
/** Request lists of common clients: udhcpc, dhclient, systemd-networkd, Windows. */
const REQUEST_LISTS: readonly (readonly number[])[] = [
  [1, 3, 6, 12, 15, 28, 42],
  [1, 28, 2, 3, 15, 6, 119, 12, 44, 47, 26, 121, 42],
  [1, 3, 6, 12, 15, 26, 33, 42, 119, 120, 121],
  [1, 3, 6, 15, 31, 33, 43, 44, 46, 47, 119, 121, 249, 252],
];

/** What the packet path is compiled with before the first packet arrives. */
export interface WarmUp {
  /**
   * Allocates zeros in an array of the class that the socket uses: code compiled for one class is slower, or discarded, when another one comes.
   * Default: Uint8Array.
   */
  readonly octets?: (length: number) => Uint8Array;
  /** The number of messages. Default: 20,000. */
  readonly messages?: number;
}

/** Answers messages of made-up clients. Needs no port, reads no clock and leaves nothing behind. @returns how many had a reply: all. */
export function warmUpPacketPath({ octets = (length) => new Uint8Array(length), messages = ENOUGH }: WarmUp = {}): number {
  const pool = documentationPool();
  let nowMs = NOW_MS;
  const clients = Array.from({ length: CLIENTS }, (_, index) => assignment(pool, index));
  const server = new DhcpServer({
    observer: { observe: () => undefined },
    nowMs: () => nowMs,
    findUsers: () => Promise.resolve({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    traffic: new AgentTraffic({ nowMs: () => nowMs, random: () => 0, sizes: { declared: CLIENTS, leased: 1, unknown: 1 } }),
  });
  server.setPool(pool, clients);
  const handle = server.handler('warm-up', () => server.poolAlone(pool.name));
  const packets = clients.flatMap((client, index) => exchange(pool, client, index)).map((packet) => copyOf(packet, octets));
  const into = octets(LARGEST_REPLY);
  let replies = 0;
  for (let message = 0; message < messages; message++) {
    const packet = packets[message % packets.length];
    if (packet !== undefined && handle(packet, into, SENDER) !== undefined) replies++;
    if (message % BURST === BURST - 1) {
      nowMs += MS_OF_BURST;
      server.endBurst();
    }
  }
  return replies;
}

function copyOf(packet: Uint8Array, octets: (length: number) => Uint8Array): Uint8Array {
  const copy = octets(packet.length);
  copy.set(packet);
  return copy;
}

function documentationPool(): Pool {
  const checked = validatePool({ name: 'warm-up', cidr: CIDR, options: { router: '192.0.2.254', dnsServers: ['192.0.2.53'] } });
  if (!checked.ok) throw new Error('the pool of the warm-up is invalid: a bug');
  return checked.value;
}

function assignment({ cidr }: Pool, index: number): Assignment {
  return { macAddress: `02:00:5e:00:53:${index.toString(16).padStart(2, '0')}`, address: cidr.network + 10 + index };
}

/** DISCOVER and REQUEST, directly and through a relay in turn. */
function exchange(pool: Pool, { macAddress, address }: Assignment, index: number): Uint8Array[] {
  const requestList = Uint8Array.from(REQUEST_LISTS[index % REQUEST_LISTS.length] ?? []);
  const relay = parseIpv4Address('192.0.2.250') ?? 0;
  const common = { macAddress, xid: index, ...(index % 2 === 0 && { relayAddress: relay }) };
  const identifier = [61, Uint8Array.of(1, ...macAddressBytes(macAddress))] as const;
  const octetsOf = (ip: number) => Uint8Array.from(formatIpv4Address(ip).split('.'), Number);
  const named = [
    [50, octetsOf(address)],
    [54, octetsOf(pool.serverAddress)],
  ] as const;
  return [
    encodeClientPacket({ type: 'discover', ...common, options: [identifier, [55, requestList]] }),
    encodeClientPacket({ type: 'request', ...common, options: [...named, identifier, [55, requestList]] }),
  ];
}
