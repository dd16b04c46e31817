import { type BindingRecord, BindingTable } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { ip } from './hosts-fixtures.js';
import { LeaseReleases } from './lease-releases.js';

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const release = (beforeMs: number) => ({ ipAddress: '10.0.0.10', hostStatus: 'rack-10-0-0-10', beforeMs });

function tableWith(grantedAtMs: number): BindingTable {
  const table = new BindingTable('rack');
  const times = { boundAtMs: 0, grantedAtMs, endsAtMs: 100 * HOUR };
  const client = { macAddress: '02:00:00:00:00:01', isReleased: false };
  table.apply({ kind: 'binding', poolName: 'rack', address: ip('10.0.0.10'), ...client, ...times } as BindingRecord);
  return table;
}

describe('a lease that a person ends', () => {
  it.each([
    ['is ended', NOW - 1_000, NOW - 2_000, 1],
    ['is not, if it was granted since', NOW - 1_000, NOW - 500, 0],
    ['is not, an hour later: its host may be switched off by then for another reason', NOW - HOUR, NOW - 2 * HOUR, 0],
  ])('%s', (_title, beforeMs, grantedAtMs, count) => {
    expect(new LeaseReleases().take([release(beforeMs)], tableWith(grantedAtMs), NOW).due).toHaveLength(count);
  });

  it('is returned once for each annotation, and by each leader', () => {
    const releases = new LeaseReleases();
    const table = tableWith(0);
    expect(releases.take([release(NOW - 2)], table, NOW).due).toHaveLength(1);
    expect(releases.take([release(NOW - 2)], table, NOW).due).toEqual([]);
    expect(releases.take([release(NOW - 1)], table, NOW).due).toHaveLength(1);
    releases.forget();
    expect(releases.take([release(NOW - 1)], table, NOW).due).toHaveLength(1);
  });

  it('is a quarantine if the address is in one', () => {
    const table = new BindingTable('rack');
    table.apply({ kind: 'quarantine', poolName: 'rack', address: ip('10.0.0.10'), untilMs: NOW + 1 });
    expect(new LeaseReleases().take([release(NOW - 1)], table, NOW).due).toHaveLength(1);
    expect(new LeaseReleases().take([release(NOW - 1)], table, NOW + 1).due).toEqual([]);
  });

  it('is empty if no client has the address', () => {
    expect(new LeaseReleases().take([release(NOW)], new BindingTable('rack'), NOW).due).toEqual([]);
    expect(new LeaseReleases().take([{ ...release(NOW), ipAddress: 'x' }], tableWith(0), NOW).due).toEqual([]);
  });

  it('stays if the annotation is more than a minute ahead, for each later client too, and that is reported once', () => {
    const [soon, ahead] = [release(NOW + 60_000), release(NOW + 60_001)];
    expect(new LeaseReleases().take([soon], tableWith(0), NOW)).toMatchObject({ due: [soon], ahead: [] });
    const releases = new LeaseReleases();
    expect(releases.take([ahead], tableWith(0), NOW)).toMatchObject({ due: [], ahead: [ahead] });
    expect(releases.take([ahead], tableWith(NOW + 30_000), NOW + 45_000)).toEqual({ due: [], ahead: [] });
    const dayAhead = release(NOW + 24 * HOUR);
    expect(new LeaseReleases().take([dayAhead], tableWith(NOW + 2 * HOUR), NOW + 3 * HOUR)).toMatchObject({ due: [] });
  });
});
