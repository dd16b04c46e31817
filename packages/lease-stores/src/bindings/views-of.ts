import { type Assignment, isBindingValid } from '@vmdhcp/dhcp-allocator';
import { type LeaseView, toLeaseView } from '../lease/lease-view.js';

/** Views of the leases that have not ended. */
export function* viewsOf(
  poolName: string,
  bindings: Iterable<Parameters<typeof isBindingValid>[0] & Assignment>,
  nowMs: number,
): Generator<LeaseView> {
  for (const binding of bindings) {
    if (!isBindingValid(binding, nowMs)) continue;
    const { address, macAddress, hostname, endsAtMs: expiresAtMs } = binding;
    const lease = { poolName, address, macAddress, expiresAtMs, ...(hostname !== undefined && { hostname }) };
    yield { ...toLeaseView(lease, undefined, undefined), dynamic: true };
  }
}
