/** Times as Go's apimachinery reads and writes them. */
import { badRequest } from '../failures.js';

const layoutSeconds = '2006-01-02T15:04:05Z07:00';
const layoutMicros = '2006-01-02T15:04:05.000000Z07:00';
const date = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})/;

/** Returns a metav1.Time: seconds, in UTC. A fraction is dropped. */
export function parseTime(value: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})$/.exec(value);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[2]}`);
  if (Number.isNaN(ms)) throw unparsable(value, layoutSeconds);
  return formatTime(ms);
}

/** Returns a metav1.MicroTime, in UTC. The fraction must have exactly six digits: JavaScript's three are refused. */
export function parseMicroTime(value: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d{6})(Z|[+-]\d{2}:\d{2})$/.exec(value);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(ms)) throw unparsable(value, layoutMicros);
  return `${new Date(ms).toISOString().slice(0, 19)}.${match[2]}Z`;
}

export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function unparsable(value: string, layout: string): Error {
  return badRequest(`parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: ${whereItStops(value, layout)}`);
}

/** The message of Go's time.Parse: the part of the value, and the part of the layout, at which it gave up. */
function whereItStops(value: string, layout: string): string {
  const seconds = date.exec(value);
  if (seconds === null) return `cannot parse ${JSON.stringify(value)} as "2006"`;
  const rest = value.slice(seconds[0].length);
  if (layout === layoutSeconds) return `cannot parse ${JSON.stringify(rest)} as "Z07:00"`;
  const micros = /^\.\d{6}/.exec(rest);
  if (micros === null) return `cannot parse ${JSON.stringify(rest)} as ".000000"`;
  return `cannot parse ${JSON.stringify(rest.slice(7))} as "Z07:00"`;
}
