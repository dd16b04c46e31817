import type { LeaseView } from '@vmdhcp/lease-stores';
import { describe, expect, it } from 'vitest';
import { leasesPage } from './leases-page.js';

const lease = (pool: string, last: number): LeaseView => ({
  pool,
  address: `10.0.${last >> 8}.${last & 255}`,
  macAddress: '02:00:00:00:00:0a',
  state: 'assigned',
});

/** The content of the page, and the number of its pieces. */
function ask(
  leases: readonly LeaseView[],
  search = '',
): { leases: LeaseView[]; pieces: number; contentType: string | undefined } {
  const { body, contentType, status } = leasesPage(() => leases)({ query: new URLSearchParams(search) } as never);
  expect(status).toBe(200);
  const pieces = typeof body === 'string' ? [body] : [...(body as Iterable<string>)];
  return { leases: JSON.parse(pieces.join('')) as LeaseView[], pieces: pieces.length, contentType };
}

describe('/leases', () => {
  it.each([0, 1, 499, 500, 501, 1_203])('%d leases are one JSON array, in pieces of 500', (count) => {
    const leases = Array.from({ length: count }, (_, index) => lease('default/net-48', index));
    expect(ask(leases)).toEqual({ leases, pieces: Math.floor(count / 500) + 1, contentType: 'application/json' });
  });

  it('?pool= leaves out other pools', () => {
    const leases = [lease('default/net-48', 1), lease('default/net-49', 2), lease('default/net-48', 3)];
    expect(ask(leases, 'pool=default/net-48').leases).toEqual([leases[0], leases[2]]);
    expect(ask(leases, 'pool=default/net-50').leases).toEqual([]);
  });
});
