import { backOffMs } from '@vmdhcp/kube-runtime';

const PAUSES = { firstMs: 100, mostMs: 5_000 };

/** Milliseconds to wait after `failures` in a row, 1 or more, before an agent connects again. @param random - 0 to 1, so that agents do not all come back at once. */
export function reconnectPauseMs(failures: number, random: number): number {
  return backOffMs(failures, { ...PAUSES, random: () => random });
}
