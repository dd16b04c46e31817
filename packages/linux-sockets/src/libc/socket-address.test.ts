import { describe, expect, it } from 'vitest';
import {
  readHardwareAddress,
  SOCKADDR_IN_LENGTH,
  SOCKADDR_LL_LENGTH,
  writeSockaddrIn,
  writeSockaddrLl,
} from './socket-address.js';

describe('socket addresses, as ip(7) and packet(7) have them', () => {
  it('IPv4: family in the order of the host, port and address in that of the network', () => {
    const into = Buffer.alloc(SOCKADDR_IN_LENGTH);
    writeSockaddrIn(into, 0xc0a83002, 4000);
    expect(into.toString('hex')).toBe(`02000fa0c0a83002${'00'.repeat(8)}`);
  });

  it('a link: protocol in the order of the network, the index in that of the host, and the address of the receiver', () => {
    const into = Buffer.alloc(SOCKADDR_LL_LENGTH, 0xee);
    writeSockaddrLl(into, { interfaceIndex: 0x0102, etherType: 0x86dd }, Uint8Array.of(2, 0, 0, 0, 0, 9));
    expect(into.toString('hex')).toBe('110086dd020100000000000602000000' + '0009' + 'eeee');
    expect(readHardwareAddress(into)).toEqual(Uint8Array.of(2, 0, 0, 0, 0, 9));
  });
});
