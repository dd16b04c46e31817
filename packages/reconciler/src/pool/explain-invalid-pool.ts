import type { Explanation } from '../explanation.js';

/** What virtual machines hear of an IPPool whose settings are invalid. It stays true when its problems become others. */
export function explainInvalidPool(poolKey: string): Explanation {
  return {
    message: `IPPool ${poolKey} is invalid, so nothing new is allocated`,
    remedy: 'its condition CacheReady names the problems',
  };
}
