import { describe, expect, it } from 'vitest';
import { encodeMagicPacket } from '../packet/encode-magic-packet.js';
import { type HeardPacket, type HearingSettings, PacketHearing } from './hear-packet.js';

const VM_A = '02:00:00:00:00:0a';
const PASSWORD = Uint8Array.of(1, 2, 3, 4);
const packetFor = (macAddress: string, password?: Uint8Array) => encodeMagicPacket({ macAddress, ...(password && { password }) });
const madeUp = (made: number) =>
  packetFor(`02:ff:${[made >> 16, made >> 8, made].map((part) => (part & 0xff).toString(16).padStart(2, '0')).join(':')}:00`);
const hearing = (settings: Partial<HearingSettings> = {}) =>
  new PacketHearing({ machines: undefined, password: undefined, windowMs: 10_000, ...settings });
const router = () => '192.0.2.1';
const textOf = (heard: HeardPacket) => (heard.kind === 'ignored' ? heard.reason : heard.kind);

describe('PacketHearing', () => {
  it('vm-a is woken once, although a UDP packet and a frame arrive; after a failure it is woken again', () => {
    const packets = hearing();
    const first = packets.hear(packetFor(VM_A), router, 0);
    expect(textOf(packets.hear(packetFor(VM_A), () => '02:00:00:00:00:01', 1))).toBe('in-progress');
    if (first.kind === 'wake-up') packets.refuse(first.sighting);
    const second = packets.hear(packetFor(VM_A), router, 2);
    expect(second.kind).toBe('wake-up');
    if (second.kind === 'wake-up') packets.accept(second.sighting);
    expect(textOf(packets.hear(packetFor(VM_A), router, 3))).toBe('repeated');
    expect(textOf(packets.hear(packetFor(VM_A), router, 10_002))).toBe('wake-up');
  });

  it('a running machine is woken again after two seconds; after a change of leader, each machine at once', () => {
    const packets = hearing();
    const hear = (nowMs: number) => packets.hear(packetFor(VM_A), router, nowMs);
    const first = hear(0);
    if (first.kind === 'wake-up') packets.accept(first.sighting, 'moment');
    expect(textOf(hear(1_999))).toBe('repeated');
    const second = hear(2_000);
    if (second.kind === 'wake-up') packets.accept(second.sighting);
    expect(textOf(hear(6_000))).toBe('repeated');
    packets.forgetAccepted();
    expect(textOf(hear(6_001))).toBe('wake-up');
  });

  it('with a password, only packets that have it count', () => {
    const packets = hearing({ password: PASSWORD });
    expect(textOf(packets.hear(packetFor(VM_A), router, 0))).toBe('wrong-password');
    expect(textOf(packets.hear(packetFor(VM_A, Uint8Array.of(1, 2, 3, 5)), router, 0))).toBe('wrong-password');
    expect(textOf(packets.hear(packetFor(VM_A, PASSWORD), router, 0))).toBe('wake-up');
  });

  it('with a list, a flood of made-up addresses from the same sender delays no machine of the list', () => {
    const packets = hearing({ machines: new Set([VM_A]) });
    for (let made = 0; made < 50_000; made++) expect(textOf(packets.hear(madeUp(made), router, made / 100))).toBe('not-in-list');
    expect(textOf(packets.hear(packetFor(VM_A), router, 500))).toBe('wake-up');
  });

  it('without a list, a flood becomes few wake-ups, from one sender and from made-up ones; a refused packet is accepted later', () => {
    for (const senderOf of [() => router, (made: number) => () => `10.0.${made >> 8}.${made & 0xff}`]) {
      const packets = hearing();
      const heard = Array.from({ length: 10_000 }, (_, made) => textOf(packets.hear(madeUp(made), senderOf(made), made / 10)));
      const wakeUps = heard.filter((one) => one === 'wake-up').length;
      expect(wakeUps).toBeGreaterThan(0);
      expect(wakeUps).toBeLessThanOrEqual(120);
      expect(heard.at(-1)).toBe('too-many');
      expect(textOf(packets.hear(madeUp(9_999), router, 60_000))).toBe('wake-up');
    }
  });

  it('a machine of the list whose wake-ups fail is tried again, but not with every packet of a flood', () => {
    const packets = hearing({ machines: new Set([VM_A]) });
    let tried = 0;
    for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
      const heard = packets.hear(packetFor(VM_A), router, nowMs);
      if (heard.kind !== 'wake-up') continue;
      tried++;
      packets.refuse(heard.sighting);
    }
    expect(tried).toBe(9);
  });

  it('the list changes: a new machine is heard at once, one that left is not; without a list every machine is heard again', () => {
    const packets = hearing({ machines: new Set() });
    const hear = (nowMs: number) => {
      const heard = packets.hear(packetFor(VM_A), router, nowMs);
      if (heard.kind === 'wake-up') packets.refuse(heard.sighting);
      return textOf(heard);
    };
    expect(hear(0)).toBe('not-in-list');
    packets.hearOnly(new Set([VM_A]));
    expect(hear(1)).toBe('wake-up');
    packets.hearOnly(new Set());
    expect(hear(2)).toBe('not-in-list');
    packets.hearOnly(undefined);
    expect(hear(3)).toBe('wake-up');
  });

  it('says why a packet is not a magic packet', () => {
    expect(textOf(hearing().hear(new Uint8Array(4), router, 0))).toBe('no-synchronization-stream');
  });
});
