import type { Explanation } from '../explanation.js';

/** The message about an invalid IPPool on virtual machines. It stays the same when the problems change. */
export function explainInvalidPool(poolKey: string): Explanation {
  return {
    message: `IPPool ${poolKey} is invalid, so nothing new is allocated`,
    remedy: 'its condition CacheReady names the problems',
  };
}
