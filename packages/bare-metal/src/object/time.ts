import { parseTime } from '@vmdhcp/kube-runtime';

/** Milliseconds since 1970; undefined if the text is not a time. */
export function readTime(text: string | undefined): number | undefined {
  const ms = parseTime(text);
  return Number.isNaN(ms) ? undefined : ms;
}
