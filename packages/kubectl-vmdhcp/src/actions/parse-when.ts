const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * Parses a time to milliseconds since 1970, in whole seconds: RFC 3339, `2026-11-17 10:00` in the time zone of this machine, or
 * how long ago (`90m`, `3d`). Undefined if the text is not a time.
 */
export function parseWhen(text: string, nowMs: number): number | undefined {
  const ago = /^(\d{1,6})([smhdw])$/.exec(text);
  if (ago !== null) return wholeSeconds(nowMs - Number(ago[1]) * UNITS_MS[ago[2] as keyof typeof UNITS_MS]);
  const written = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text);
  if (written === null) return undefined;
  const [, day = '', time = '00:00', zone = ''] = written;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) || !isDay(day) ? undefined : wholeSeconds(ms);
}

/** False for 31 November, which `Date.parse` takes for 1 December. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
