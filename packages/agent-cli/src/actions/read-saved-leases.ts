import { EMPTY_STATE, type LeaseView, peekBindings, peekState, toLeaseView, viewsOf } from '@vmdhcp/lease-stores';

/** The leases in a state directory, which an agent may use meanwhile. @throws CommandError if there are none. */
export async function readSavedLeases(path: string): Promise<LeaseView[]> {
  const tables = await peekBindings(path);
  const { pools, expiries, owners } = await peekState(path).catch((error: unknown) => {
    // An agent of bare-metal hosts keeps leases of unknown clients only, and so does an import.
    if (tables.size > 0) return EMPTY_STATE;
    throw error;
  });
  const dynamic = [...tables].flatMap(([poolName, table]) => [...viewsOf(poolName, table.bindings(), Date.now())]);
  const assigned = [...pools].flatMap(([poolName, { assignments }]) =>
    assignments.map((assignment) => {
      const expiresAtMs = expiries.get(poolName)?.get(assignment.macAddress);
      const owner = owners.get(poolName)?.get(assignment.macAddress);
      return toLeaseView({ poolName, ...assignment, ...(expiresAtMs !== undefined && { expiresAtMs }) }, owner, undefined);
    }),
  );
  return [...assigned, ...dynamic];
}
