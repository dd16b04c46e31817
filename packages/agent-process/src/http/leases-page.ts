import type { LeaseView } from '@vmdhcp/lease-stores';
import type { StatusPage } from '@vmdhcp/service-process';

/** The number of leases written before the event loop gets its turn. */
const LEASES_PER_CHUNK = 500;

/** `/leases`, `/leases?pool=default/net-48`: a JSON array. */
export function leasesPage(leases: () => Iterable<LeaseView>): StatusPage {
  return ({ query }) => ({ status: 200, contentType: 'application/json', body: leaseChunks(leases(), query.get('pool')) });
}

/** In pieces, so that a hundred thousand leases do not delay packets. */
function* leaseChunks(leases: Iterable<LeaseView>, pool: string | null): Generator<string> {
  let chunk = '[';
  let count = 0;
  for (const lease of leases) {
    if (pool !== null && lease.pool !== pool) continue;
    chunk += `${count === 0 ? '' : ','}\n${JSON.stringify(lease)}`;
    if (++count % LEASES_PER_CHUNK === 0) {
      yield chunk;
      chunk = '';
    }
  }
  yield `${chunk}\n]\n`;
}
