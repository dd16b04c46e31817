import { BindingTable, OpenPool, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { BoundAddress } from '../binding/bound-addresses.js';
import { declaredAddresses, hostLeases, rememberedClients, wasNeverRenewed } from './bound-leases.js';
import { ip } from './hosts-fixtures.js';

const NOW = 1_000_000;
const mac = (number: number) => `02:00:00:00:00:0${number}`;
const bound = (last: number, client: number, fields: Partial<BoundAddress> = {}): BoundAddress => ({
  ...{ ipAddress: `10.0.0.${last}`, macAddress: mac(client), hostStatus: `rack-10-0-0-${last}` },
  ...{ isByAnnotation: false, isActive: false, changedAtMs: 500, ...fields },
});

function rackPool() {
  const checked = validatePool({
    name: 'rack',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.2',
    dynamic: ['10.0.0.10-10.0.0.12'],
  });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

it('annotated addresses are leased to their clients, addresses of HostEndpoints to none, and those bound by the switch are not declared', () => {
  const bindings = [bound(10, 1, { isByAnnotation: true }), bound(11, 2)];
  expect(declaredAddresses({ bindings, keptOut: ['10.0.0.12', '10.0.0.10'] })).toEqual([
    { address: ip('10.0.0.10'), macAddress: mac(1), isLeasedHere: true },
    { address: ip('10.0.0.12') },
  ]);
});

describe('clients without a lease in the pool', () => {
  it('are remembered from their HostStatus, with the time of its last change', () => {
    const known = { pool: rackPool(), table: new BindingTable('rack'), recordings: [] };
    const records = rememberedClients({ bindings: [bound(11, 2)] }, known, NOW);
    expect(records).toEqual([expect.objectContaining({ address: ip('10.0.0.11'), macAddress: mac(2), endsAtMs: 500 })]);
  });

  it.each<[what: string, binding: BoundAddress]>([
    ['has a binding', bound(12, 1)],
    ['asks for an address that another client had', bound(10, 2)],
    ['is out of the range', bound(77, 2)],
    ['is bound by an annotation', bound(12, 2, { isByAnnotation: true })],
    ['asks for an address in quarantine', bound(11, 2)],
  ])('are not remembered if they %s', (_, binding) => {
    const table = new BindingTable('rack');
    const times = { boundAtMs: 1, grantedAtMs: 1, endsAtMs: 2, isReleased: false };
    table.apply({
      ...{ kind: 'binding', poolName: 'rack', address: ip('10.0.0.10'), macAddress: mac(1), ...times },
    });
    table.apply({ kind: 'quarantine', poolName: 'rack', address: ip('10.0.0.11'), untilMs: NOW + 1 });
    expect(rememberedClients({ bindings: [binding] }, { pool: rackPool(), table, recordings: [] }, NOW)).toEqual([]);
  });

  it('make room for other clients when every address was used: the one that was away for longest goes first', () => {
    const pool = rackPool();
    const bindings = [bound(10, 1, { changedAtMs: 900 }), bound(11, 2, { changedAtMs: 100 })];
    const records = rememberedClients({ bindings }, { pool, table: new BindingTable('rack'), recordings: [] }, NOW);
    const open = new OpenPool(new ServedPool(pool), records, NOW);
    const client = (number: number) => ({ macAddress: mac(number), place: 'link' });
    const choose = (number: number) => {
      const address = open.addresses.chooseAddress(client(number), undefined, NOW);
      if (address === undefined) return undefined;
      open.recorded(open.beginRecording(client(number), address, NOW), NOW);
      return address;
    };
    expect([5, 6, 1, 7].map(choose)).toEqual([ip('10.0.0.12'), ip('10.0.0.11'), ip('10.0.0.10'), undefined]);
    expect(hostLeases(open.bindings, NOW)).toHaveLength(3);
  });
});

it('a lease that its client never renewed differs from one that it renewed: while it lasts, and when it has ended', () => {
  const table = new BindingTable('rack');
  const record = (last: number, times: { boundAtMs: number; grantedAtMs: number; endsAtMs: number }) =>
    table.apply({
      kind: 'binding',
      poolName: 'rack',
      address: ip(`10.0.0.${last}`),
      macAddress: mac(last),
      ...times,
      isReleased: false,
    });
  record(10, { boundAtMs: 0, grantedAtMs: 0, endsAtMs: 300_000 });
  record(11, { boundAtMs: 0, grantedAtMs: 150_000, endsAtMs: 900_000 });
  expect(hostLeases(table, 1).map(({ ipAddress, isNew }) => [ipAddress, isNew])).toEqual([
    ['10.0.0.10', true],
    ['10.0.0.11', undefined],
  ]);
  const neverRenewed = (nowMs: number) =>
    ['10.0.0.10', '10.0.0.11', '10.0.0.12'].map((one) => wasNeverRenewed(table, one, nowMs));
  expect(neverRenewed(1)).toEqual([false, false, false]);
  expect(neverRenewed(1_000_000)).toEqual([true, false, false]);
});
