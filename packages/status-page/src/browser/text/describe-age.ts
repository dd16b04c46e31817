const UNITS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3600 },
  { unit: 'min', seconds: 60 },
] as const;

/** `12 s`, `3 min`, `5 h`, `2 d`: rounded down, because people compare it with limits. @param durationMs - negative values count as 0. */
export function describeDuration(durationMs: number): string {
  const seconds = Math.max(Math.floor(durationMs / 1000), 0);
  const found = UNITS.find((one) => seconds >= one.seconds);
  return found === undefined ? `${seconds} s` : `${Math.floor(seconds / found.seconds)} ${found.unit}`;
}

/** `3 min ago`; `in 3 min` for what is to come. Both times by the clock of the server, in milliseconds since 1970. */
export function describeAge(atMs: number, nowMs: number): string {
  // Clocks of two machines differ a little, so a recent event must not appear to be in the future.
  if (atMs > nowMs + 5000) return `in ${describeDuration(atMs - nowMs)}`;
  const age = nowMs - atMs;
  return age < 1000 ? 'now' : `${describeDuration(age)} ago`;
}
