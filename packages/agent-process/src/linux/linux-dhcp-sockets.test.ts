import type { ReplyDestination } from '@vmdhcp/dhcp-allocator';
import { BROADCAST_MAC } from '@vmdhcp/linux-sockets';
import { describe, expect, it } from 'vitest';
import { newDatagram, writeDatagram } from './linux-dhcp-sockets.js';

const CLIENT = Uint8Array.of(2, 0, 0, 0, 0, 0xa);
const SERVER = 0x0a000001;

describe('writeDatagram, RFC 2131 §4.1: how a reply leaves', () => {
  it.each<{ kind: ReplyDestination['kind']; isOnLink: boolean; delivery: string; hardwareAddress: Uint8Array }>([
    { kind: 'link', isOnLink: true, delivery: 'framed-or-broadcast', hardwareAddress: CLIENT },
    { kind: 'link', isOnLink: false, delivery: 'framed-or-broadcast', hardwareAddress: CLIENT },
    { kind: 'broadcast', isOnLink: true, delivery: 'framed', hardwareAddress: BROADCAST_MAC },
    { kind: 'broadcast', isOnLink: false, delivery: 'framed', hardwareAddress: BROADCAST_MAC },
    { kind: 'unicast', isOnLink: true, delivery: 'framed', hardwareAddress: CLIENT },
    { kind: 'unicast', isOnLink: false, delivery: 'routed', hardwareAddress: CLIENT },
  ])('$kind, on the link: $isOnLink -> $delivery', ({ kind, isOnLink, delivery, hardwareAddress }) => {
    const destination = { kind, address: 0x0a00000a, port: 68 };
    const reply = { length: 300, destination, serverAddress: SERVER, hardwareAddress: CLIENT, isOnLink };
    expect(writeDatagram(newDatagram(), reply)).toEqual({
      length: 300,
      delivery,
      destinationAddress: 0x0a00000a,
      destinationPort: 68,
      sourceAddress: SERVER,
      hardwareAddress,
    });
  });
});
