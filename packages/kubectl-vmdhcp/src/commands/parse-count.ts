import { InvalidArgumentError } from 'commander';

/** Parses a whole number in this range. */
export function countOf(least: number, most = 1_000_000): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(`write a whole number from ${least} to ${most}.`);
  };
}
