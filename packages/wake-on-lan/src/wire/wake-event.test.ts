import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REPORT } from '../service/wol-fixtures.js';
import { decodeWakeEvent, encodeWakeEvent, type WakeEvent } from './wake-event.js';

const EVENT = encodeWakeEvent(REPORT);
const decode = (changes: Partial<WakeEvent>) => decodeWakeEvent({ ...EVENT, ...changes }, 5);
const anyReport = fc.record(
  {
    macAddress: fc
      .array(fc.nat(255), { minLength: 6, maxLength: 6 })
      .map((octets) => octets.map((one) => one.toString(16).padStart(2, '0')).join(':')),
    nodeName: fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,20}[a-z0-9])?$/),
    sender: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('02:00:00:00:00:07')),
    senderPort: fc.nat(65_535),
    packetSize: fc.nat(65_535),
    heardAtMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    ageMs: fc.nat(4_294_967_295),
    passwordSecret: fc.constantFrom('wake-password/password', 'a.b/_C.d'),
  },
  { noNullPrototype: true, requiredKeys: ['macAddress', 'nodeName', 'sender', 'senderPort', 'packetSize', 'heardAtMs', 'ageMs'] },
);

describe('encodeWakeEvent', () => {
  it.each([
    [undefined, 0],
    [-1, 0],
    [1_500.4, 1_500],
    [5e12, 4_294_967_295],
  ])('an age of %s ms is %s', (ageMs, expected) => {
    expect(encodeWakeEvent({ ...REPORT, ...(ageMs !== undefined && { ageMs }) }).age_ms).toBe(expected);
  });
});

describe('decodeWakeEvent', () => {
  it('any report is read as it was written', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        expect(decodeWakeEvent(encodeWakeEvent(report), 0)).toEqual({ ok: true, report });
      }),
    );
  });

  it.each<[string, Partial<WakeEvent>, object]>([
    ['capital letters and hyphens', { mac_address: '02-00-5E-10-00-01' }, { macAddress: '02:00:5e:10:00:01' }],
    ['no timestamp: the time of arrival', { timestamp: null }, { heardAtMs: 5 }],
    ['a frame, as the predecessor reports it', { source_ip: '255.255.255.255', source_port: 0 }, { sender: '255.255.255.255' }],
    ['a MAC address as sender', { source_ip: '02:00:00:00:00:07' }, { sender: '02:00:00:00:00:07' }],
  ])('%s', (_, changes, expected) => expect(decode(changes)).toMatchObject({ ok: true, report: expected }));

  it.each<[string, Partial<WakeEvent>, string]>([
    ['no MAC address', { mac_address: '' }, 'mac_address'],
    ['too short', { mac_address: '02:00:5e:10:00' }, 'mac_address'],
    ['a node name with a line break', { node_name: 'node-1\nERROR' }, 'node_name'],
    ['no node name', { node_name: '' }, 'node_name'],
    ['a node name of 254 characters', { node_name: 'n'.repeat(254) }, 'node_name'],
    ['no sender', { source_ip: '' }, 'source_ip'],
    ['a sender that is text', { source_ip: 'router' }, 'source_ip'],
    ['port 65536', { source_port: 65_536 }, 'source_port'],
    ['a packet of 4 GB', { packet_size: 4_294_967_295 }, 'packet_size'],
    ['a password in the place of its name', { password_secret: '00:22:44:66:88:aa' }, 'password_secret'],
    ['a time that no clock has', { timestamp: { seconds: 9_007_199_254_740_991, nanos: 0 } }, 'timestamp'],
  ])('%s: refused, with the field', (_, changes, field) => {
    const decoded = decode(changes);
    expect(decoded.ok).toBe(false);
    if (!decoded.ok) expect(decoded.problems).toEqual([expect.stringContaining(field)]);
  });
});
