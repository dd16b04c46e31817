import { cidrContains } from '../address/ipv4-cidr.js';
import type { Lease } from '../lease/lease.js';
import { INFINITE_LEASE_TIME_SECONDS, type Pool } from '../pool/pool.js';
import { decodeMessage, type MalformedReason } from '../wire/decode-message.js';
import { encodeMessage } from '../wire/encode-message.js';
import { OptionCode } from '../wire/layout.js';
import { type ClientMessage, type NotForServersReason, toClientMessage } from './client-message.js';
import { decide } from './decide.js';
import type { Decision, IgnoreReason } from './decision.js';
import { maximumReplyLength } from './maximum-reply-length.js';
import { isRelayAllowed } from './relay-allowed.js';
import { type Reply, ReplyComposer } from './reply-composer.js';
import { type ReplyDestination, replyDestination } from './reply-destination.js';

/** A pool, and its replies made ready. */
export class ServedPool {
  readonly pool: Pool;
  readonly composer: ReplyComposer;

  constructor(pool: Pool) {
    this.pool = pool;
    this.composer = new ReplyComposer(pool);
  }
}

/** What a server knows when a packet comes in on an interface. */
export interface Serving {
  /** The pools of that interface; the first one is asked first. */
  readonly pools: readonly ServedPool[];
  readonly leaseOf: (poolName: string, macAddress: string) => Lease | undefined;
  /** Memory for the reply, at least 1472 octets; default: new memory for each. */
  readonly into?: Uint8Array;
}

export type DropReason = MalformedReason | NotForServersReason | 'no-pool-for-relay' | 'no-pool-here' | 'relay-not-allowed';

/** What a packet led to. */
export type Answer =
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'ignored'; readonly reason: IgnoreReason; readonly client: ClientMessage; readonly pool: Pool }
  | {
      readonly kind: 'noted';
      readonly decision: Extract<Decision, { kind: 'release' | 'decline' }>;
      readonly client: ClientMessage;
      readonly pool: Pool;
    }
  | {
      readonly kind: 'reply';
      readonly decision: Reply;
      readonly client: ClientMessage;
      readonly pool: Pool;
      readonly bytes: Uint8Array;
      readonly destination: ReplyDestination;
      /** Codes of options that the client's maximum message size left no room for. */
      readonly omittedOptions: readonly number[];
    };

/**
 * Answers one packet: reads it, finds its pool and lease, decides, and puts the reply together. Never throws, sends
 * nothing and changes nothing: what the decision means for the leases is the caller's to record, before it sends.
 */
export function answerPacket(packet: Uint8Array, serving: Serving): Answer {
  const decoded = decodeMessage(packet);
  if (!decoded.ok) return { kind: 'dropped', reason: decoded.reason };
  const translated = toClientMessage(decoded.message);
  if (!translated.ok) return { kind: 'dropped', reason: translated.reason };
  const { client } = translated;
  const found = findPool(client, serving);
  if (typeof found === 'string') return { kind: 'dropped', reason: found };
  if (client.relayAddress !== undefined && !isRelayAllowed(client.relayAddress, found.served.pool))
    return { kind: 'dropped', reason: 'relay-not-allowed' };
  return answerClient(client, found, serving.into);
}

function answerClient(client: ClientMessage, { served, lease }: Found, into: Uint8Array | undefined): Answer {
  const { pool } = served;
  const decision = decide(client, lease === undefined ? { pool } : { pool, lease });
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
      return reply(client, decision, { served, into });
  }
}

interface ReplyMeans {
  readonly served: ServedPool;
  readonly into: Uint8Array | undefined;
}

function reply(client: ClientMessage, decision: Reply, { served, into }: ReplyMeans): Answer {
  const { bytes, omittedOptions } = encodeMessage(served.composer.compose(client, decision), {
    maximumLength: maximumReplyLength(client.message.options.uint16(OptionCode.maximumMessageSize)),
    overload: decision.kind !== 'nak',
    ...(into !== undefined && { into }),
  });
  const destination = replyDestination(client, decision);
  return { kind: 'reply', decision, client, pool: served.pool, bytes, destination, omittedOptions };
}

interface Found {
  readonly served: ServedPool;
  readonly lease: Lease | undefined;
}

/**
 * The pool of the client's network. A relayed message belongs to the subnet its relay names. Among pools that share a
 * network it is the one whose server the client names; else the one in which the client has the address it claims, else one
 * in which it has any; without a lease the one whose subnet that address lies in. INFORM asks for no lease: there only the
 * client's own address counts.
 */
function findPool(client: ClientMessage, { pools, leaseOf }: Serving): Found | DropReason {
  const { linkAddress, macAddress } = client;
  const onLink = linkAddress === undefined ? pools : pools.filter(({ pool }) => cidrContains(pool.cidr, linkAddress));
  const candidates = onLink.length > 1 ? namedByServer(client, onLink) : onLink;
  const found = findLease(client, candidates, leaseOf);
  if (found !== undefined) return found;
  const served = poolOfClaimedAddress(client, candidates) ?? candidates[0];
  if (served !== undefined) return { served, lease: leaseOf(served.pool.name, macAddress) };
  return linkAddress === undefined ? 'no-pool-here' : 'no-pool-for-relay';
}

function poolOfClaimedAddress(
  { type, clientAddress, requestedAddress }: ClientMessage,
  pools: readonly ServedPool[],
): ServedPool | undefined {
  const address = type === 'inform' ? clientAddress : (clientAddress ?? requestedAddress);
  return address === undefined ? undefined : pools.find(({ pool }) => cidrContains(pool.cidr, address));
}

/** The pools whose server the client names; all of them if it names none of ours. */
function namedByServer({ serverIdentifier }: ClientMessage, pools: readonly ServedPool[]): readonly ServedPool[] {
  const named = pools.filter(({ pool }) => pool.serverAddress === serverIdentifier);
  return named.length > 0 ? named : pools;
}

function findLease(client: ClientMessage, candidates: readonly ServedPool[], leaseOf: Serving['leaseOf']): Found | undefined {
  if (client.type === 'inform') return undefined;
  const claimed = client.clientAddress ?? client.requestedAddress;
  let first: Found | undefined;
  for (const served of candidates) {
    const lease = leaseOf(served.pool.name, client.macAddress);
    if (lease === undefined) continue;
    if (lease.address === claimed) return { served, lease };
    first ??= { served, lease };
  }
  return first;
}

/** When a lease that is granted at `nowMs` ends; Infinity for one for ever. */
export function leaseExpiry(pool: Pool, nowMs: number): number {
  return pool.leaseTimeSeconds === INFINITE_LEASE_TIME_SECONDS ? Number.POSITIVE_INFINITY : nowMs + pool.leaseTimeSeconds * 1000;
}
