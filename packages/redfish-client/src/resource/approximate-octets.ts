/** The approximate overhead of each text, number, object or list. */
const OCTETS_OF_VALUE = 24;

/** The approximate memory of a value of texts, numbers, lists and objects. */
export function approximateOctets(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return OCTETS_OF_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return OCTETS_OF_VALUE;
  return Object.values(value).reduce<number>((sum, one) => sum + approximateOctets(one), OCTETS_OF_VALUE);
}
