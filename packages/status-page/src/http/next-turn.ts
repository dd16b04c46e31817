import { setImmediate } from 'node:timers/promises';

/** The end of the slice before. */
let slices: Promise<unknown> = Promise.resolve();

/**
 * Resolves when the next slice of work may run. Node runs everything that waits for `setImmediate` in one go; slices one after the other let packets
 * and the controller in between, however many requests there are.
 */
export function nextTurn(): Promise<unknown> {
  slices = slices.then(() => setImmediate());
  return slices;
}
