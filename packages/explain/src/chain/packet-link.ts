/** What the leader of the agents saw of the MAC address of an interface, and what it replied. */
import { describeCount } from '@vmdhcp/kube-runtime';
import { type Finding, finding } from './address-chain.js';
import type { ClientTraffic, PacketCounts, TrafficPacket } from './agent-traffic.js';
import type { ChainObservation, ObservedTraffic } from './chain-observation.js';
import { type LinkReading, NOTHING_READ } from './config-links.js';
import type { ChainInterface } from './machine-interfaces.js';
import type { ChainReason } from './reasons.js';

/** A client without an address sends another request long before. */
const LATELY_MS = 600_000;
/** Reasons for which an early packet gets no reply, and a later one does. */
const PASSING: ReadonlySet<string> = new Set(['address-being-probed', 'being-recorded', 'decline-being-checked']);

/** @param isTroubled - true if the guest operating system reports no address, or another one. */
export function readPackets({ traffic, nowMs }: ChainObservation, one: ChainInterface, isTroubled: boolean): LinkReading {
  const asked = traffic?.get(one.name);
  if (asked === undefined) return NOTHING_READ;
  const link = { link: 'packets', object: `Pod ${asked.pod}` } as const;
  if (asked.kind !== 'found') return { facts: [{ ...link, facts: describeFailure(asked), isUnknown: true }], findings: [] };
  const { clients, sinceMs } = asked.traffic;
  const client = clients.find(({ macAddress }) => macAddress === one.macAddress);
  const counting = `it counts since ${describeAge(sinceMs, nowMs)}`;
  if (client === undefined) {
    const found = finding('NoPacketFromClient', '', isTroubled ? 'broken' : 'note');
    return { facts: [{ ...link, facts: `got no packet from ${one.macAddress}; ${counting}` }], findings: [found] };
  }
  return { facts: [{ ...link, facts: describeClient(client, nowMs) }], findings: findingsOf(client, { isTroubled, nowMs }) };
}

function describeFailure(asked: Exclude<ObservedTraffic, { readonly kind: 'found' }>): string {
  return asked.kind === 'refused' ? 'cannot be asked' : asked.message;
}

/** `DISCOVER 3 times, REQUEST once; the last 12 seconds ago: ACK 10.1.0.10` */
function describeClient({ messages, last, lastAtMs }: ClientTraffic, nowMs: number): string {
  const packet = last.at(-1);
  const became = packet === undefined ? '' : `: ${describeAnswer(packet)}`;
  return `${describeCounts(messages)}; the last ${describeAge(lastAtMs, nowMs)}${became}`;
}

function describeCounts(counts: PacketCounts): string {
  const times = Object.entries(counts).map(([name, count]) => `${name} ${count === 1 ? 'once' : `${count} times`}`);
  return times.length === 0 ? 'no packet' : times.join(', ');
}

function describeAnswer({ received, answer, reason }: TrafficPacket): string {
  return answer === undefined
    ? `${received} got no answer${reason === undefined ? '' : ` (${reason})`}`
    : `${received} got ${answer}`;
}

/** `12 seconds ago` */
function describeAge(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 120) return `${describeCount(seconds, 'second')} ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${describeCount(minutes, 'minute')} ago` : `${describeCount(Math.round(minutes / 60), 'hour')} ago`;
}

interface Circumstances {
  readonly isTroubled: boolean;
  readonly nowMs: number;
}

/** The last packet, and those before it. */
function findingsOf(client: ClientTraffic, { isTroubled, nowMs }: Circumstances): Finding[] {
  const { last, lastAtMs } = client;
  if (isTroubled && nowMs - lastAtMs > LATELY_MS)
    return [finding('NoPacketFromClient', `the last packet of the client came ${describeAge(lastAtMs, nowMs)}`)];
  const reason = reasonOf(last, isTroubled);
  if (reason === undefined) return [];
  const isServed = last.some(({ answer }) => isOf(answer, 'ACK'));
  // If the client has its address as far as anyone reports, earlier failures are only a note.
  const state = isTroubled || !isServed ? stateOf(reason, last) : 'note';
  return [finding(reason, messageOf(reason, last), state)];
}

/** The reasons that packets can have. */
type PacketReason = Extract<
  ChainReason,
  | 'OfferNotAccepted'
  | 'OtherServerSelected'
  | 'PacketNotAnswered'
  | 'RequestRefused'
  | 'ClientDeclinedAddress'
  | 'AcknowledgedNotUsed'
>;

function reasonOf(last: readonly TrafficPacket[], isTroubled: boolean): PacketReason | undefined {
  const packet = last.at(-1);
  if (packet === undefined) return undefined;
  if (packet.received === 'DECLINE') return 'ClientDeclinedAddress';
  return packet.answer === undefined ? reasonOfSilence(packet) : reasonOfAnswer(packet.answer, last, isTroubled);
}

function reasonOfSilence({ received, reason }: TrafficPacket): PacketReason | undefined {
  if (reason === 'other-server-selected') return 'OtherServerSelected';
  return received === 'DISCOVER' || received === 'REQUEST' ? 'PacketNotAnswered' : undefined;
}

function reasonOfAnswer(answer: string, last: readonly TrafficPacket[], isTroubled: boolean): PacketReason | undefined {
  if (isOf(answer, 'NAK')) return 'RequestRefused';
  if (isOf(answer, 'ACK')) return isTroubled ? 'AcknowledgedNotUsed' : undefined;
  return isOf(answer, 'OFFER') && offersInARow(last) > 1 ? 'OfferNotAccepted' : undefined;
}

function isOf(answer: string | undefined, type: string): boolean {
  return answer === type || answer?.startsWith(`${type} `) === true;
}

/** The number of OFFERs at the end that nothing else followed. */
function offersInARow(last: readonly TrafficPacket[]): number {
  return last.length - 1 - last.findLastIndex(({ answer }) => !isOf(answer, 'OFFER'));
}

function stateOf(reason: PacketReason, last: readonly TrafficPacket[]): Finding['state'] {
  const packet = last.at(-1);
  if (reason === 'PacketNotAnswered' && PASSING.has(packet?.reason ?? '')) return 'waiting';
  const refusals = last.filter(({ answer }) => isOf(answer, 'NAK')).length;
  return reason === 'RequestRefused' && refusals === 1 ? 'waiting' : 'broken';
}

/** Empty if the meaning of the reason says everything. */
function messageOf(reason: PacketReason, last: readonly TrafficPacket[]): string {
  const { received = '', answer = '', reason: why } = last.at(-1) ?? {};
  const because = why === undefined ? '' : `: ${why}`;
  const messages: Readonly<Record<PacketReason, string>> = {
    OfferNotAccepted: `the last ${offersInARow(last)} DISCOVERs got ${answer} each, and no REQUEST followed: the client does not accept the offer, or does not get it`,
    OtherServerSelected: '',
    PacketNotAnswered: `the last ${received} got no answer${because}`,
    RequestRefused: `the last ${received} got a NAK${because}`,
    ClientDeclinedAddress: '',
    AcknowledgedNotUsed: `the last ${received} got ${answer}, and the guest operating system does not report that address`,
  };
  return messages[reason];
}
