/** What each text, number, object or list takes besides its characters, about. */
const OCTETS_OF_VALUE = 24;

/** What a value of texts, numbers, lists and objects takes in memory, about. */
export function octetsOf(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return OCTETS_OF_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return OCTETS_OF_VALUE;
  return Object.values(value).reduce<number>((sum, one) => sum + octetsOf(one), OCTETS_OF_VALUE);
}
