import { parseTime } from '@vmdhcp/kube-runtime';

/** Milliseconds since 1970; undefined for what is no time. */
export function readTime(text: string | undefined): number | undefined {
  const ms = parseTime(text);
  return Number.isNaN(ms) ? undefined : ms;
}
