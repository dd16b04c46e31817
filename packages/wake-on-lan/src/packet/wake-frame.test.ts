import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMagicPacket } from './encode-magic-packet.js';
import { anyMachineAddress, MAC, octetsOf } from './packet-fixtures.js';
import { decodeWakeFrame, encodeWakeFrame } from './wake-frame.js';

const ADDRESSES = 'ffffffffffff020000000009';
const MAGIC = Buffer.from(encodeMagicPacket({ macAddress: MAC })).toString('hex');
const frame = (vlanIds: readonly number[]) => ({
  destination: 'ff:ff:ff:ff:ff:ff',
  source: '02:00:00:00:00:09',
  vlanIds,
  packet: { macAddress: MAC },
});

describe('decodeWakeFrame', () => {
  it.each([
    ['without tags', '0842', []],
    ['with a tag (IEEE 802.1Q §9.6)', '810000300842', [48]],
    ['with a priority in its tag', '8100e0300842', [48]],
    ['with two tags (IEEE 802.1ad)', '88a80064810000300842', [100, 48]],
    ['with two tags of the time before it', '91000064810000300842', [100, 48]],
  ])('%s', (_, type, vlanIds) => {
    expect(decodeWakeFrame(octetsOf(ADDRESSES + type + MAGIC))).toEqual({ ok: true, frame: frame(vlanIds) });
  });

  it.each([
    ['nothing', '', 'frame-cut-off'],
    ['addresses alone', ADDRESSES, 'frame-cut-off'],
    ['a tag alone', `${ADDRESSES}81000030`, 'frame-cut-off'],
    ['IPv4', `${ADDRESSES}0800${MAGIC}`, 'another-ethertype'],
    ['three tags', `${ADDRESSES}8100000181000002810000030842${MAGIC}`, 'too-many-vlan-tags'],
    ['no magic packet', `${ADDRESSES}0842`, 'no-synchronization-stream'],
  ])('%s is not a wake-up', (_, hex, reason) => {
    expect(decodeWakeFrame(octetsOf(hex))).toEqual({ ok: false, reason });
  });

  it('law: decode(encode(frame)) = frame', () => {
    const vlanIds = fc.array(fc.nat(4095), { maxLength: 2 });
    fc.assert(
      fc.property(vlanIds, anyMachineAddress, anyMachineAddress, (ids, destination, macAddress) => {
        const wanted = { ...frame(ids), destination, packet: { macAddress } };
        expect(decodeWakeFrame(encodeWakeFrame(wanted))).toEqual({ ok: true, frame: wanted });
      }),
    );
  });

  it('law: any octets give a frame or a reason', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (octets) => {
        expect(decodeWakeFrame(octets).ok).toBe(false);
        expect(decodeWakeFrame(Uint8Array.from([...octetsOf(`${ADDRESSES}810000300842`), ...octets])).ok).toBe(false);
      }),
    );
  });

  it.each([[[1, 2, 3]], [[4096]], [[-1]], [[1.5]]])('VLANs %j are not encoded', (vlanIds) => {
    expect(() => encodeWakeFrame(frame(vlanIds))).toThrow(RangeError);
  });
});
