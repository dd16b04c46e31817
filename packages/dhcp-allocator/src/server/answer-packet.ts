import { INFINITE_LEASE_TIME_SECONDS, type Pool } from '../pool/pool.js';
import { decodeMessage, type MalformedReason } from '../wire/decode-message.js';
import { encodeMessage } from '../wire/encode-message.js';
import { OptionCode } from '../wire/layout.js';
import { type ClientMessage, type NotForServersReason, toClientMessage } from './client-message.js';
import { decide } from './decide.js';
import type { Decision, IgnoreReason } from './decision.js';
import { type FoundPool, findPool } from './find-pool.js';
import { maximumReplyLength } from './maximum-reply-length.js';
import { isRelayAllowed } from './relay-allowed.js';
import type { Reply } from './reply-composer.js';
import { type ReplyDestination, replyDestination } from './reply-destination.js';
import type { ServedPool, Serving } from './served-pool.js';

/** Why a server sends no reply and makes no note: the packet is not for it, or is malformed. */
export type DropReason =
  | MalformedReason
  | NotForServersReason
  | 'no-pool-for-relay'
  | 'no-pool-here'
  | 'relay-not-allowed'
  | 'too-many-new-clients';

/** The outcome of a packet. */
export type Answer =
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'ignored'; readonly reason: IgnoreReason; readonly client: ClientMessage; readonly pool: Pool }
  | {
      readonly kind: 'noted';
      readonly decision: Extract<Decision, { kind: 'release' | 'decline' }>;
      readonly client: ClientMessage;
      readonly pool: Pool;
    }
  | ReplyAnswer;

/** A reply that is ready to be sent. */
export interface ReplyAnswer {
  readonly kind: 'reply';
  readonly decision: Reply;
  readonly client: ClientMessage;
  readonly pool: Pool;
  readonly bytes: Uint8Array;
  readonly destination: ReplyDestination;
  /** Codes of options that the client's maximum message size left no room for. */
  readonly omittedOptions: readonly number[];
}

/**
 * Answers one packet: reads it, finds its pool and lease, decides, and puts the reply together. Never throws, sends nothing and changes nothing: the
 * caller records what the decision means for the leases before it sends the reply.
 */
export function answerPacket(packet: Uint8Array, serving: Serving): Answer {
  const client = readClientMessage(packet);
  if (typeof client === 'string') return { kind: 'dropped', reason: client };
  const found = findPool(client, serving);
  if (typeof found === 'string') return { kind: 'dropped', reason: found };
  return answerClient(client, found, serving.into);
}

/** The client message in the octets, or why there is none. Never throws. */
export function readClientMessage(packet: Uint8Array): ClientMessage | MalformedReason | NotForServersReason {
  const decoded = decodeMessage(packet);
  if (!decoded.ok) return decoded.reason;
  const translated = toClientMessage(decoded.message);
  return translated.ok ? translated.client : translated.reason;
}

/** The answer to a client whose pool and lease are known. */
export function answerClient(client: ClientMessage, { served, lease }: FoundPool, into: Uint8Array | undefined): Answer {
  const { pool } = served;
  if (!isFromAllowedRelay(client, pool)) return { kind: 'dropped', reason: 'relay-not-allowed' };
  return answerDecision(client, decide(client, lease === undefined ? { pool } : { pool, lease }), { served, into });
}

/** True also if no relay forwarded the message. */
export function isFromAllowedRelay({ relayAddress }: ClientMessage, pool: Pool): boolean {
  return relayAddress === undefined || isRelayAllowed(relayAddress, pool);
}

/** The reply that a decision calls for, ready to be sent, or none. */
export function answerDecision(client: ClientMessage, decision: Decision, means: ReplyMeans): Answer {
  const { pool } = means.served;
  switch (decision.kind) {
    case 'ignore':
      return { kind: 'ignored', reason: decision.reason, client, pool };
    case 'release':
    case 'decline':
      return { kind: 'noted', decision, client, pool };
    case 'offer':
    case 'ack':
    case 'nak':
    case 'inform':
      return reply(client, decision, means);
  }
}

/** The parts of a reply, and the memory for it. */
export interface ReplyMeans {
  readonly served: ServedPool;
  readonly into: Uint8Array | undefined;
}

function reply(client: ClientMessage, decision: Reply, { served, into }: ReplyMeans): ReplyAnswer {
  const { bytes, omittedOptions } = encodeMessage(served.composer.compose(client, decision), {
    maximumLength: maximumReplyLength(client.message.options.uint16(OptionCode.maximumMessageSize)),
    overload: decision.kind !== 'nak',
    ...(into !== undefined && { into }),
  });
  const destination = replyDestination(client, decision);
  return { kind: 'reply', decision, client, pool: served.pool, bytes, destination, omittedOptions };
}

/** When a lease that is granted at `nowMs` ends; Infinity if never. */
export function leaseExpiry(pool: Pool, nowMs: number): number {
  return pool.leaseTimeSeconds === INFINITE_LEASE_TIME_SECONDS ? Number.POSITIVE_INFINITY : nowMs + pool.leaseTimeSeconds * 1000;
}
