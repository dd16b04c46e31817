import type { Pool, PreparedReply, ReplyAnswer } from '@vmdhcp/dhcp-allocator';
import type { QueuedReply } from '../ports.js';

/** A reply; the next one overwrites its fields. */
export type ReusedReply = { -readonly [Field in keyof QueuedReply]: QueuedReply[Field] };

/** Where the reply goes. */
export function queuedReplyOf({ bytes, client, destination, pool }: ReplyAnswer): QueuedReply {
  return {
    length: bytes.length,
    destination,
    serverAddress: pool.serverAddress,
    hardwareAddress: client.message.chaddr,
    isOnLink: isOnLink(client.relayAddress !== undefined, pool),
  };
}

export function emptyReply(): ReusedReply {
  return {
    length: 0,
    destination: { kind: 'broadcast', address: 0, port: 0 },
    serverAddress: 0,
    hardwareAddress: new Uint8Array(0),
    isOnLink: false,
  };
}

export function writeQueued(queued: ReusedReply, reply: PreparedReply, pool: Pool): QueuedReply {
  queued.length = reply.length;
  queued.destination = reply.destination;
  queued.hardwareAddress = reply.hardwareAddress;
  queued.serverAddress = pool.serverAddress;
  queued.isOnLink = isOnLink(reply.isRelayed, pool);
  return queued;
}

/** A pool with relays may have clients in other subnets, which renew without the relay. */
function isOnLink(isRelayed: boolean, { relays }: Pool): boolean {
  return !isRelayed && relays.length === 0;
}
