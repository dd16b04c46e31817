/** The string formats that the real server checks; all others pass. */
import { isIPv4, isIPv6 } from 'node:net';

type Check = (text: string) => boolean;

const matching =
  (expression: RegExp): Check =>
  (text) =>
    expression.test(text);

const hex = '[0-9a-f]';
const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^${hex}{8}-?${hex}{4}-?${version}${hex}{3}-?${variant}${hex}{3}-?${hex}{12}$`, 'i');
const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const goDuration = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const unitNames =
  /^(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$/i;

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['ipv4', isIPv4],
  ['ipv6', isPlainIPv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matching(uuid(hex, hex))],
  ['uuid3', matching(uuid('3', hex))],
  ['uuid4', matching(uuid('4', '[89ab]'))],
  ['uuid5', matching(uuid('5', '[89ab]'))],
  ['date', isDate],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['byte', matching(/^(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i)],
  ['email', matching(/^[^\s@<>()",;:\\]+@[^\s@<>()",;:\\]+$/)],
  ['hostname', isHostname],
  ['uri', isUri],
  ['password', () => true],
  ['hexcolor', matching(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', isRgbColor],
  ['bsonobjectid', matching(/^[0-9a-f]{24}$/i)],
  ['k8s-short-name', (text) => text.length <= 63 && matching(new RegExp(`^${label}$`))(text)],
  ['k8s-long-name', (text) => text.length <= 253 && matching(new RegExp(`^${label}(?:\\.${label})*$`))(text)],
]);

/** Formats of numbers, which belong to the type. */
const numberFormats: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double']);
/** Known to the real server, not checked here. */
const uncheckedFormats: ReadonlySet<string> = new Set(['isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn']);

/** True when `text` is of `format`, or the format is none that is checked. */
export function matchesFormat(format: string, text: string): boolean {
  return checks.get(format)?.(text) ?? true;
}

/** False for formats that a CRD may name and that are not checked. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === 'integer' || type === 'number') return numberFormats.has(format);
  return type === 'string' && (checks.has(format) || uncheckedFormats.has(format));
}

export function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

export function isCidr(text: string): boolean {
  const [, address = '', length = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  return (isIPv4(address) && Number(length) <= 32) || (isPlainIPv6(address) && Number(length) <= 128);
}

function isMac(text: string): boolean {
  return (
    /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?$/i.test(text) ||
    /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?$/i.test(text)
  );
}

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [date = '', time = '', ...rest] = text.toLowerCase().split('t');
  return rest.length === 0 && isDate(date) && /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?(z|[+-]\d{2}:\d{2})$/.test(time);
}

/** `1h30m` as in Go, or words: `3 days`. */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  const parts = [...text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)];
  return parts.length > 0 && parts.every(([, , unit = '']) => unitNames.test(unit));
}

function isHostname(text: string): boolean {
  return text.length <= 255 && text.split('.').every((part) => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/i.test(part));
}

function isUri(text: string): boolean {
  return text.startsWith('/') || URL.canParse(text);
}

function isRgbColor(text: string): boolean {
  const [, ...channels] = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text) ?? [];
  return channels.length === 3 && channels.every((channel) => Number(channel) <= 255);
}
