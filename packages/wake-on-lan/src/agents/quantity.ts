/** Source: Kubernetes, "Quantity": decimal and binary suffixes, and exponents. */
const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** True if both are the same amount: `0.5` and `500m`, `1024Mi` and `1Gi`. The API server spells quantities in its own way. */
export function isSameQuantity(one: unknown, other: unknown): boolean {
  const [first, second] = [amountOf(one), amountOf(other)];
  return Math.abs(first - second) <= Math.abs(first) * 1e-9;
}

/** NaN if the text is not a quantity. */
function amountOf(quantity: unknown): number {
  const [, digits = '', suffix = ''] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  const factor = suffix === '' ? 1 : (SUFFIXES[suffix] ?? Number.NaN);
  return digits === '' ? Number.NaN : Number(digits) * factor;
}
