/** An agent with one open pool, 10.0.0.100 and .101, and a network and a disk that the test controls. */
import {
  type BindingRecord,
  type DhcpMessage,
  decodeMessage,
  formatIpv4Address,
  type MacAddress,
  messageTypeOf,
  OpenPool,
  parseIpv4Address,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import type { AddressUse } from '../ports.js';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { DhcpServer } from './dhcp-server.js';

export const UNKNOWN = '02:00:00:00:00:51';
export const OTHER = '02:00:00:00:00:52';
export const DECLARED = '02:00:00:00:00:0a';
export const SQUATTER = '02:00:00:00:00:66';
export const octets = (text: string): Uint8Array => Uint8Array.from(text.split('.'), Number);
export const ip = (text: string): number => parseIpv4Address(text) as number;

/** Waits for the next turn of the event loop, so that settled promises have taken effect. */
export const turn = () => new Promise(setImmediate);

/** @param asksAgain - true if a DISCOVER whose address is in use is answered again at once. */
export function setUp(
  settings: Partial<{ probes: boolean; interfaces: readonly string[]; dynamic: string; asksAgain: boolean }> = {},
) {
  const { probes = false, interfaces = [], dynamic = '10.0.0.100-10.0.0.101', asksAgain = false } = settings;
  const checked = validatePool({
    ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.99' },
    dynamic: [dynamic],
  });
  if (!checked.ok) throw new Error('no pool');
  const clock = { nowMs: 1_000_000 };
  const nowMs = () => clock.nowMs;
  const observer = new RecordingObserver();
  const open = new OpenPool(new ServedPool(checked.value), [], nowMs());
  /** Records that wait for the disk; `settle` ends the wait. */
  const disk: { record: BindingRecord; settle: (isRecorded: boolean) => void }[] = [];
  const sent: string[] = [];
  const sentOctets: Uint8Array[] = [];
  /** Hosts that answer probes, by address. */
  const hosts = new Map<string, MacAddress>();
  /** How probes are answered; default: by the hosts. */
  const network: { use?: AddressUse; error?: Error; hostsAreOn?: string } = {};
  const probed: string[] = [];
  const server = new DhcpServer({
    observer,
    nowMs,
    findUsers: async (interfaceName, { address, macAddress }) => {
      probed.push(formatIpv4Address(address));
      if (network.error !== undefined) throw network.error;
      const isThere = network.hostsAreOn === undefined || network.hostsAreOn === interfaceName;
      const host = isThere ? hosts.get(formatIpv4Address(address)) : undefined;
      const others = host === undefined || host === macAddress ? [] : [host];
      return network.use ?? { byClient: host === macAddress, others };
    },
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    open: {
      openPoolOf: (name) => (name === 'net' ? open : undefined),
      all: () => [open],
      record: (record) =>
        new Promise((resolve) => {
          const settle = (isRecorded: boolean) => {
            if (isRecorded) open.recorded(record, nowMs());
            else open.notRecorded(record, nowMs());
            resolve(isRecorded);
          };
          disk.push({ record, settle });
        }),
      probes: () => probes,
      interfacesOf: () => interfaces,
      send: (name, replies) => {
        sentOctets.push(...replies.map(({ bytes }) => bytes));
        for (const { bytes, queued } of replies) sent.push(`${name} ${describeReply(bytes.subarray(0, queued.length))}`);
      },
      ...(asksAgain && { again: (_: string, packet: Uint8Array) => void handle(packet, Buffer.alloc(1_472)) }),
    },
  });
  server.setPool(checked.value, [{ macAddress: DECLARED, address: ip('10.0.0.10') }]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  /** The immediate answer. */
  const send = (macAddress: string, type: ClientPacket['type'], fields: Partial<ClientPacket> = {}): string | undefined => {
    const into = Buffer.alloc(1_472);
    const reply = handle(encodeClientPacket({ type, macAddress, xid: 1, options: [], ...fields }), into);
    return reply === undefined ? undefined : describeReply(into.subarray(0, reply.length));
  };
  const request = (macAddress: string, address: string) =>
    send(macAddress, 'request', {
      options: [
        [50, octets(address)],
        [54, octets('10.0.0.1')],
      ],
    });
  const release = (macAddress: string, address: string) =>
    send(macAddress, 'release', { clientAddress: ip(address), options: [[54, octets('10.0.0.1')]] });
  const settle = async (isRecorded = true) => {
    await turn();
    for (const waiting of disk.splice(0)) waiting.settle(isRecorded);
    await turn();
  };
  const lines = () => observer.of('lease').map(({ event, lease, details }) => ({ event, mac: lease.macAddress, ...details }));
  /** A new client asks, and gets the address that it is offered. */
  const join = async (macAddress: string) => {
    const before = sent.length;
    const atOnce = send(macAddress, 'discover');
    await turn();
    const offered = /offer (\S+)/.exec(atOnce ?? sent.slice(before).join())?.[1];
    if (offered === undefined) return 'no offer';
    request(macAddress, offered);
    await turn();
    await settle();
    return sent.at(-1)?.endsWith(`ack ${offered}`) === true ? offered : 'no ack';
  };
  const ignored = () =>
    [...server.counters.messages()].filter(({ outcome }) => outcome === 'ignored').map(({ type, reason }) => `${type} ${reason}`);
  return {
    observer,
    hosts,
    release,
    join,
    ignored,
    server,
    open,
    disk,
    sent,
    sentOctets,
    network,
    probed,
    clock,
    send,
    request,
    settle,
    lines,
  };
}

function describeReply(bytes: Uint8Array): string {
  const decoded = decodeMessage(bytes);
  const message = decoded.ok ? decoded.message : ({} as DhcpMessage);
  return `${messageTypeOf(message.options.uint8(53) ?? 0)} ${formatIpv4Address(message.yiaddr)}`;
}
