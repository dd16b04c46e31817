/** When a lease or a quarantine ends, as people and files read it: `never` for Infinity. */
export function formatLeaseTime(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'never';
}

/** Milliseconds since 1970, or Infinity. @throws TypeError for a text that is not a time. */
export function parseLeaseTime(text: string): number {
  if (text === 'never') return Number.POSITIVE_INFINITY;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new TypeError(`cannot read the time ${JSON.stringify(text)}`);
  return ms;
}
