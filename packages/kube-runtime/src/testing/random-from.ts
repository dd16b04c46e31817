/** A whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number;

/** The same numbers for the same seed, on every machine, so that a failing story can be repeated. */
export function randomFrom(seed: number): Random {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
