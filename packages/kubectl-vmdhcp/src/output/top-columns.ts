/** The columns of `kubectl vmdhcp top`. */
import type { Column } from '@vmdhcp/explain/observe';
import type { TopClientRow, TopPoolRow } from './top-rows.js';

/** `12s`, `5m`, `3h`, `2d`: as kubectl writes ages. */
export function formatAge(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const count = (value: number, { error = '' }: { readonly error?: string }): string => (error === '' ? String(value) : '-');

export const TOP_POOL_COLUMNS: readonly Column<TopPoolRow>[] = [
  { header: 'POOL', value: ({ pool }) => pool || '-' },
  { header: 'CLIENTS', value: (row) => count(row.clients, row) },
  { header: 'PACKETS', value: (row) => count(row.packets, row) },
  { header: 'ANSWERS', value: (row) => count(row.answers, row) },
  { header: 'REFUSED', value: (row) => count(row.refusals, row) },
  { header: 'LAST', value: ({ lastSeconds }) => formatAge(lastSeconds) || '-' },
  { header: 'REASON', value: ({ topReason, error }) => error || topReason },
  // Long names come after the counts, so that a terminal of 80 columns shows the counts.
  { header: 'AGENT', value: ({ agent }) => agent || '-' },
  { header: 'GROUP', value: ({ group }) => group, isWide: true },
  { header: 'COUNTEDFOR', value: ({ countedSeconds }) => formatAge(countedSeconds), isWide: true },
];

export const TOP_CLIENT_COLUMNS: readonly Column<TopClientRow>[] = [
  { header: 'MAC', value: ({ macAddress }) => macAddress },
  { header: 'POOL', value: ({ pool }) => pool },
  { header: 'PACKETS', value: ({ packets }) => String(packets) },
  { header: 'ANSWERS', value: ({ answers }) => String(answers) },
  { header: 'REFUSED', value: ({ refusals }) => String(refusals) },
  { header: 'LAST', value: ({ lastSeconds }) => formatAge(lastSeconds) },
  { header: 'AGENT', value: ({ agent }) => agent, isWide: true },
  { header: 'REASON', value: ({ topReason }) => topReason, isWide: true },
  { header: 'LASTPACKET', value: ({ last }) => last },
];
