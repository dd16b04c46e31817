import type { BindingRecord } from '../binding/binding.js';
import type { Pool } from '../pool/pool.js';
import {
  type Answer,
  answerClient,
  answerDecision,
  isFromAllowedRelay,
  type ReplyAnswer,
  readClientMessage,
} from '../server/answer-packet.js';
import type { ClientMessage } from '../server/client-message.js';
import { candidatePools, findPool, poolOfClaimedAddress } from '../server/find-pool.js';
import type { ServedPool, Serving } from '../server/served-pool.js';
import { decideUnknown } from './decide-unknown.js';
import type { OpenPool } from './open-pool.js';
import { type UnknownClient, unknownClientOf } from './unknown-client.js';

/** What a server knows when a packet comes in on an interface some of whose pools are open. */
export interface OpenServing extends Serving {
  /** Undefined if the pool is not open. */
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  /** Milliseconds on the clock of the bindings. */
  readonly nowMs: number;
  /** Returns true if one more message of a client that never had a lease may be answered. Default: always. */
  readonly admits?: (standing: NewStanding) => boolean;
}

/** A message of a client that never had a lease: `offered` if it requests the offered address, otherwise `new`. */
export type NewStanding = 'new' | 'offered';

/** A record that has to survive a crash before anything else is done. */
export interface RecordAnswer {
  readonly kind: 'record';
  /**
   * The client renewed a lease that had not ended, or it got an address, possibly one that it had before. In the second case another host may use the
   * address: probe it first, unless it was probed for this client shortly before, for example for an offer.
   */
  readonly event: 'bound' | 'renewed';
  /** Pass it to `recorded` or `notRecorded` of its `OpenPool`. */
  readonly record: BindingRecord;
  /** Send it only when the record survives a crash. Absent if there was no room for it. Its octets are its own, not in `into`. */
  readonly reply?: ReplyAnswer;
  /** Decoded from a copy of the packet, because the caller keeps it while it waits. */
  readonly client: ClientMessage;
  readonly pool: Pool;
}

/**
 * Answers one packet as `answerPacket` does; clients without a lease are answered from the open pools. Never throws, and sends nothing. The pools
 * remember offers and the records that were returned.
 */
export function answerOpenPacket(packet: Uint8Array, serving: OpenServing): Answer | RecordAnswer {
  const client = readClientMessage(packet);
  if (typeof client === 'string') return { kind: 'dropped', reason: client };
  const found = findPool(client, serving);
  if (typeof found === 'string') return { kind: 'dropped', reason: found };
  if (found.lease !== undefined || client.type === 'inform') return answerClient(client, found, serving.into);
  const unknown = unknownClientOf(client);
  const open = findOpenPool(client, unknown, serving);
  return open === undefined
    ? answerClient(client, found, serving.into)
    : answerUnknown({ packet, message: client, unknown, open }, serving);
}

interface Asked {
  readonly packet: Uint8Array;
  readonly message: ClientMessage;
  readonly unknown: UnknownClient;
  readonly open: OpenPool;
}

/**
 * The open pool for the client, among those that share a network: the one in which it has a binding or an offer, else the one whose subnet contains
 * the claimed address, else the first.
 */
function findOpenPool(client: ClientMessage, unknown: UnknownClient, serving: OpenServing): OpenPool | undefined {
  const candidates = candidatePools(client, serving.pools);
  const openPoolOf = (served: ServedPool | undefined) =>
    served === undefined ? undefined : serving.openPoolOf(served.pool.name);
  const open = candidates.flatMap((served) => openPoolOf(served) ?? []);
  if (open.length <= 1) return open[0];
  const knowing = open.filter(({ addresses }) => addresses.bindingOf(unknown) ?? addresses.offerOf(unknown));
  const claimed = openPoolOf(poolOfClaimedAddress(client, candidates));
  if (claimed !== undefined && (knowing.length === 0 || knowing.includes(claimed))) return claimed;
  return knowing[0] ?? open[0];
}

function answerUnknown(asked: Asked, { into, nowMs, admits }: OpenServing): Answer | RecordAnswer {
  const { message, unknown, open } = asked;
  const { pool } = open;
  if (!isFromAllowedRelay(message, pool)) return { kind: 'dropped', reason: 'relay-not-allowed' };
  const standing = newStandingOf(asked, nowMs);
  if (standing !== undefined && admits?.(standing) === false) return { kind: 'dropped', reason: 'too-many-new-clients' };
  const decision = decideUnknown({ message, client: unknown, open, nowMs });
  if (decision.kind !== 'record-then-ack') {
    const served = decision.kind === 'offer' ? open.servedFor(unknown, decision.lease.address, nowMs) : open.served;
    return answerDecision(message, decision, { served, into });
  }
  const { record, ack, isRenewal } = decision;
  const client = copyOf(asked);
  // The octets wait for the record, while other replies are written into `into`.
  const served = open.servedFor(unknown, ack.lease.address, nowMs);
  const reply = answerDecision(client, ack, { served, into: undefined });
  const event = isRenewal ? 'renewed' : 'bound';
  return { kind: 'record', event, record, client, pool, ...(reply.kind === 'reply' && { reply }) };
}

/** Undefined if the client has, or had, a lease of the pool. */
function newStandingOf({ message, unknown, open: { addresses, pool } }: Asked, nowMs: number): NewStanding | undefined {
  if (addresses.bindingOf(unknown) !== undefined) return undefined;
  const { type, requestedAddress, serverIdentifier } = message;
  const isSelecting = type === 'request' && serverIdentifier === pool.serverAddress;
  const isOffered = requestedAddress !== undefined && addresses.wasOffered(unknown, requestedAddress, nowMs);
  return isSelecting && isOffered ? 'offered' : 'new';
}

/** A message is a view of its packet, and the caller reuses that memory for the next packet. */
function copyOf({ packet, message }: Asked): ClientMessage {
  const copy = readClientMessage(packet.slice());
  return typeof copy === 'string' ? message : copy;
}
