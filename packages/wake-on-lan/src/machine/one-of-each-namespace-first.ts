import type { MachineKey } from './wake-config.js';

/**
 * The same machines, sorted by name, but one of each namespace before the second one of any. So if only the first few are named
 * or get an Event, they do not all belong to one tenant.
 */
export function oneOfEachNamespaceFirst(keys: Iterable<MachineKey>): MachineKey[] {
  const before = new Map<string, number>();
  const placed = [...keys].toSorted().map((key) => {
    const namespace = key.slice(0, key.indexOf('/'));
    const place = before.get(namespace) ?? 0;
    before.set(namespace, place + 1);
    return { key, place };
  });
  // Sorting is stable.
  return placed.toSorted((one, other) => one.place - other.place).map(({ key }) => key);
}
