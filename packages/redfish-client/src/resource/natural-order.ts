const ORDER = new Intl.Collator('en', { numeric: true });

/** Compares links so that `Memory/2` comes before `Memory/10`; services list their members in a changing order. */
export function naturalOrder(one: string, other: string): number {
  return ORDER.compare(one, other) || (one < other ? -1 : Number(one > other));
}
