import type { Unit } from '../dashboard.js';

type Step = readonly [from: number, name: string];

const THOUSANDS: readonly Step[] = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
];
const OCTETS: readonly Step[] = [
  [2 ** 30, ' GiB'],
  [2 ** 20, ' MiB'],
  [2 ** 10, ' KiB'],
  [0, ' B'],
];
const SECONDS: readonly Step[] = [
  [365 * 86_400, ' years'],
  [86_400, ' d'],
  [3_600, ' h'],
  [60, ' min'],
  [1, ' s'],
  [1e-3, ' ms'],
  [0, ' µs'],
];

/** A value as a person reads it: about three digits, with its unit. @param nowSeconds - seconds since 1970, for times. */
export function formatValue(value: number, unit: Unit, nowSeconds: number): string {
  if (!Number.isFinite(value)) return '–';
  switch (unit) {
    case 'short':
      return scaled(value, THOUSANDS);
    case 'ops':
      return `${scaled(value, THOUSANDS)}/s`;
    case 'percentunit':
      return `${digits(value * 100)} %`;
    case 'bytes':
      return scaled(value, OCTETS);
    case 's':
      return duration(value);
    case 'dateTimeFromNow':
      return fromNow(value / 1_000 - nowSeconds);
  }
}

function fromNow(seconds: number): string {
  return seconds < 0 ? `${duration(-seconds)} ago` : `in ${duration(seconds)}`;
}

function duration(seconds: number): string {
  if (seconds === 0) return '0 s';
  const size = Math.abs(seconds);
  const [from, name] = SECONDS.find(([least]) => size >= least) ?? [1, ' s'];
  return `${digits(seconds / (from === 0 ? 1e-6 : from))}${name}`;
}

function scaled(value: number, steps: readonly Step[]): string {
  const [from, name] = steps.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  return `${digits(value / (from || 1))}${name}`;
}

/** About three digits; none after the point where they are 0. */
function digits(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return Object.is(rounded, -0) ? '0' : rounded.toLocaleString('en-US', { maximumFractionDigits: 3, useGrouping: false });
}
