import { describe, expect, it } from 'vitest';
import { roomForClients } from './room-for-clients.js';

const pool = (spec: object, status: object = {}) => ({ metadata: { namespace: 'default', name: 'net' }, spec, status });

/** The object with this many clients. */
function filled(object: ReturnType<typeof pool>, count: number): string {
  const number = (index: number) =>
    index
      .toString(16)
      .padStart(6, '0')
      .replaceAll(/(..)(?!$)/g, '$1:');
  const entries = Array.from({ length: count }, (_, index) => [
    `200.100.${100 + (index >> 8)}.${100 + (index & 0xff)}`,
    `02:00:5e:${number(index)}`,
  ]);
  return JSON.stringify({ ...object, status: { ...object.status, ipv4: { allocated: Object.fromEntries(entries) } } });
}

describe('roomForClients', () => {
  it('an ordinary pool has room for more than 40,000, and etcd accepts an object with that many', () => {
    const object = pool({ networkName: 'default/net', ipv4Config: { cidr: '200.100.0.0/16' } });
    const room = roomForClients(object);
    expect(room).toBeGreaterThan(40_000);
    expect(filled(object, room).length).toBeLessThan(1_572_864);
    expect(filled(object, room + 1_000).length).toBeGreaterThan(1_572_864 - 16_384 - 38);
  });

  it('does not depend on who has an address already', () => {
    const allocated = { '10.0.0.10': '02:00:00:00:00:0a' };
    expect(roomForClients(pool({}, { ipv4: { allocated } }))).toBe(roomForClients(pool({}, { ipv4: {} })));
  });

  it.each([
    ['reservations', pool({ reservations: Array.from({ length: 4_096 }, () => ({ macAddress: '02:00:00:00:00:0a' })) }), 2_000],
    ['marks', pool({ ipv4Config: { pool: { exclude: ['10.0.0.0-10.0.0.255', '10.0.2.0-10.0.2.255'] } } }), 512],
    ['quarantines', pool({}, { ipv4: { quarantined: { '10.0.0.10': { until: 'x'.repeat(38_000) } } } }), 1_000],
    ['letters of several octets', pool({ note: 'é'.repeat(38_000) }), 2_000],
  ])('is smaller with %s', (_, object, fewer) => {
    expect(roomForClients(pool({})) - roomForClients(object)).toBeGreaterThanOrEqual(fewer);
  });

  it('is zero if the spec takes all of it', () => {
    expect(roomForClients(pool({ note: 'x'.repeat(1_600_000) }))).toBe(0);
  });
});
