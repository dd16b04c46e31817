/** Unknown clients of an open pool, for tests: packets in, each outcome as one line. */
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import type { BindingRecord } from '../binding/binding.js';
import { LeaseTable } from '../lease/lease-table.js';
import { encodeText } from '../options/text.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import type { Answer } from '../server/answer-packet.js';
import { ServedPool } from '../server/served-pool.js';
import { toBytes } from '../wire/big-endian.js';
import { decodeMessage } from '../wire/decode-message.js';
import type { DhcpMessage } from '../wire/dhcp-message.js';
import { DhcpOptions } from '../wire/dhcp-options.js';
import { encodeMessage } from '../wire/encode-message.js';
import { type MessageType, MessageTypeCode, messageTypeOf, OptionCode } from '../wire/layout.js';
import { answerOpenPacket, type RecordAnswer } from './answer-open-packet.js';
import { OpenPool } from './open-pool.js';

export const ip = (text: string): number => parseIpv4Address(text) as number;
/** `02:00:00:00:00:0a` of 10. */
export const mac = (number: number): string =>
  (0x020000000000 + number)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');

export interface Fields {
  readonly ciaddr?: string;
  readonly requested?: string;
  readonly server?: string;
  readonly giaddr?: string;
  readonly identifier?: readonly number[];
  readonly circuit?: string;
  readonly hostname?: string;
  readonly rapid?: boolean;
  /** Codes of requested options. */
  readonly wishes?: readonly number[];
}

/** A client's message; what is left out is as a client that knows nothing sends it. */
export function clientPacket(type: MessageType, macAddress: string, fields: Fields = {}): Uint8Array {
  const address = (value: string) => toBytes(ip(value), 4);
  const options: [number, Uint8Array][] = [[OptionCode.messageType, Uint8Array.of(MessageTypeCode[type])]];
  const { requested, server, identifier, hostname, circuit, rapid, wishes } = fields;
  if (requested !== undefined) options.push([OptionCode.requestedAddress, address(requested)]);
  if (server !== undefined) options.push([OptionCode.serverIdentifier, address(server)]);
  if (hostname !== undefined) options.push([OptionCode.hostName, encodeText(hostname)]);
  const lists = new Map([
    [OptionCode.clientIdentifier, identifier],
    [OptionCode.parameterRequestList, wishes],
  ]);
  options.push(
    ...[...lists].flatMap(([code, octets]): [number, Uint8Array][] =>
      octets === undefined ? [] : [[code, Uint8Array.from(octets)]],
    ),
  );
  if (rapid) options.push([OptionCode.rapidCommit, new Uint8Array(0)]);
  if (circuit !== undefined)
    options.push([OptionCode.relayAgentInformation, Uint8Array.from([1, circuit.length, ...encodeText(circuit)])]);
  const message: DhcpMessage = {
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 0, flags: 0, yiaddr: 0, siaddr: 0 },
    ciaddr: fields.ciaddr === undefined ? 0 : ip(fields.ciaddr),
    giaddr: fields.giaddr === undefined ? 0 : ip(fields.giaddr),
    chaddr: macAddressBytes(macAddress),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: DhcpOptions.of(options),
  };
  return encodeMessage(message).bytes;
}

export function decoded(bytes: Uint8Array): DhcpMessage {
  const result = decodeMessage(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

/** `offer 10.0.0.10 link 10.0.0.10:68`, or why there is no reply. */
export function outcomeOf(answer: Answer | RecordAnswer): string {
  if (answer.kind === 'dropped' || answer.kind === 'ignored') return `${answer.kind} ${answer.reason}`;
  if (answer.kind === 'noted') return `${answer.decision.kind} ${formatIpv4Address(answer.decision.lease.address)}`;
  if (answer.kind === 'record') return answer.reply === undefined ? 'no reply' : outcomeOf(answer.reply);
  const reply = decoded(answer.bytes);
  const { kind, address, port } = answer.destination;
  const type = messageTypeOf(reply.options.uint8(OptionCode.messageType) ?? 0);
  const text = answer.decision.kind === 'nak' ? ` ${answer.decision.reason}` : '';
  return `${type} ${formatIpv4Address(reply.yiaddr)} ${kind} ${formatIpv4Address(address)}:${port}${text}`;
}

/** Without the destination of the reply: `offer 10.0.0.10`. */
export const shortOutcome = (outcome: string): string => outcome.replace(/ (link|unicast|broadcast) \S+/, '');

export const SERVER = '10.0.0.1';

/** 10.0.0.1 leases 10.0.0.10 to 10.0.0.19 for an hour. */
export function servedPool(definition: Partial<PoolDefinition> = {}): ServedPool {
  const checked = validatePool({
    ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: SERVER, leaseTimeSeconds: 3600 },
    ...{ dynamic: ['10.0.0.10-10.0.0.19'], ...definition },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return new ServedPool(checked.value);
}

/** A server with one open pool, a store that never fails unless `canRecord` is false, and a clock. No host answers probes. */
export class OpenServer {
  nowMs = 1_000_000;
  canRecord = true;
  /** The records that survive a crash. */
  readonly stored: BindingRecord[] = [];
  readonly declared = new LeaseTable();
  served: ServedPool;
  open: OpenPool;

  constructor(definition: Partial<PoolDefinition> = {}) {
    this.served = servedPool(definition);
    this.open = new OpenPool(this.served, [], this.nowMs);
  }

  /** The answer, before anything is recorded. */
  receive(packet: Uint8Array): Answer | RecordAnswer {
    return answerOpenPacket(packet, {
      pools: [this.served],
      leaseOf: (pool, macAddress) => this.declared.lookup(pool, macAddress),
      openPoolOf: (pool) => (pool === this.open.pool.name ? this.open : undefined),
      nowMs: this.nowMs,
    });
  }

  /** Records what is to be recorded; true if it took effect. */
  record(record: BindingRecord): boolean {
    if (this.canRecord) {
      this.stored.push(record);
      this.open.recorded(record, this.nowMs);
    } else this.open.notRecorded(record, this.nowMs);
    return this.canRecord;
  }

  /** The outcome of a message, in one line. */
  send(type: MessageType, client: number | string, fields: Fields = {}): string {
    const answer = this.receive(clientPacket(type, typeof client === 'number' ? mac(client) : client, fields));
    if (answer.kind === 'record' && !this.record(answer.record)) return 'ignored not-recorded';
    return outcomeOf(answer);
  }

  /** Ends the lease because its client did not answer a probe. True if that took effect. */
  end(address: number): boolean {
    const { grantedAtMs = 0 } = this.open.bindings.at(address) ?? {};
    const record = this.open.beginRelease(address, grantedAtMs, this.nowMs);
    return record !== undefined && this.record(record);
  }

  /** A probe finds the host at the address, which is remembered as its own. True if its lease goes on. */
  restore(address: number, usedBy: string): boolean {
    const record = this.open.beginRestoring(address, usedBy, this.nowMs);
    return record !== undefined && this.record(record);
  }

  /** Sends DISCOVER and REQUEST like a client; returns its address, or why it got none. */
  join(client: number, fields: Fields = {}): string {
    const offered = /^offer (\S+)/.exec(this.send('discover', client, fields))?.[1];
    if (offered === undefined) return 'no offer';
    const outcome = this.send('request', client, { ...fields, server: SERVER, requested: offered });
    return /^ack (\S+)/.exec(outcome)?.[1] ?? outcome;
  }

  /** Everything in memory is lost; the records are read again. */
  crash(): void {
    this.open = new OpenPool(this.served, this.stored, this.nowMs);
  }

  pass(seconds: number): void {
    this.nowMs += seconds * 1000;
  }
}
