import { peekBindings } from '../bindings/peek-bindings.js';
import { viewsOf } from '../bindings/views-of.js';
import { type LeaseView, toLeaseView } from '../state/lease-view.js';
import { peekState } from '../state/state-directory.js';

/** The leases in a state directory, which an agent may use meanwhile. @throws CommandError where there are none to be read. */
export async function readSavedLeases(path: string): Promise<LeaseView[]> {
  const { pools, expiries, owners } = await peekState(path);
  const tables = await peekBindings(path);
  const dynamic = [...tables].flatMap(([poolName, table]) => [...viewsOf(poolName, table.bindings(), Date.now())]);
  const assigned = [...pools].flatMap(([poolName, { assignments }]) =>
    assignments.map((assignment) => {
      const expiresAtMs = expiries.get(poolName)?.get(assignment.macAddress);
      const owner = owners.get(poolName)?.get(assignment.macAddress);
      return toLeaseView({ poolName, ...assignment, ...(expiresAtMs !== undefined && { expiresAtMs }) }, owner);
    }),
  );
  return [...assigned, ...dynamic];
}
