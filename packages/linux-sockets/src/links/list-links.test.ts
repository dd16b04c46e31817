import { describe, expect, it } from 'vitest';
import { encodeAttributes, encodeName, encodeUint32 } from '../netlink/netlink-attributes.js';
import { listLinks, readLink } from './list-links.js';

/** `struct ifinfomsg` and attributes. */
function entry(type: number, flags: number, attributes: Parameters<typeof encodeAttributes>[0]): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(type, 2);
  body.writeInt32LE(7, 4);
  body.writeUInt32LE(flags, 8);
  return Buffer.concat([body, encodeAttributes(attributes)]);
}

describe('readLink', () => {
  it('a VLAN that is a port of a bridge', () => {
    const attributes = [
      [3, encodeName('bond0.48')],
      [10, encodeUint32(4)],
      [18, encodeAttributes([[1, encodeName('vlan')]])],
    ] as const;
    expect(readLink(entry(1, 3, attributes))).toEqual({
      interfaceName: 'bond0.48',
      interfaceIndex: 7,
      isUp: true,
      isEthernet: true,
      kind: 'vlan',
      masterIndex: 4,
    });
  });

  it('hardware that is down; a tunnel without Ethernet', () => {
    expect(readLink(entry(1, 2, [[3, encodeName('eno1')]]))).toMatchObject({ isUp: false, isEthernet: true, kind: undefined });
    expect(readLink(entry(65534, 1, [[3, encodeName('wg0')]]))).toMatchObject({ isUp: true, isEthernet: false });
  });

  it.each([
    ['without a name', entry(1, 3, [])],
    ['with an empty name', entry(1, 3, [[3, encodeName('')]])],
    ['that is cut off', Buffer.alloc(15)],
  ])('an entry %s is ignored', (_, octets) => {
    expect(readLink(octets)).toBeUndefined();
  });
});

it('listLinks: the loopback interface exists, and is not Ethernet', () => {
  expect(listLinks()).toContainEqual(
    expect.objectContaining({ interfaceName: 'lo', interfaceIndex: 1, isEthernet: false, kind: undefined }),
  );
});
