/** Where the lines of a chart are, and what stands beside them. */
export interface Axis {
  readonly from: number;
  readonly to: number;
  /** Lowest first; within the axis. */
  readonly ticks: readonly number[];
}

/** An axis with 2 to 7 round ticks that has all values. @param values - finite; none: 0 to 1. @param isBinary - round are powers of two. */
export function valueAxis(values: readonly number[], isBinary = false): Axis {
  const [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [0, 0]);
  if (low === high) return { from: 0, to: 1, ticks: [0, 1] };
  const step = isBinary ? 2 ** Math.ceil(Math.log2((high - low) / 4)) : roundStep((high - low) / 4);
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => multiple(first + index, step));
  return { from: ticks[0] ?? low, to: ticks.at(-1) ?? high, ticks };
}

/** Ticks of a time that begins with 0, in seconds. */
export function timeAxis(seconds: number): Axis {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600].find((one) => seconds / one <= 7) ?? seconds;
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  return { from: 0, to: seconds, ticks };
}

/** `1:05`, minutes and seconds. */
export function formatTick(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** 1, 2 or 5 times a power of ten, at least as large. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power;
}

/** Without the error that floating point adds up. */
function multiple(count: number, step: number): number {
  return Number((count * step).toPrecision(12));
}
