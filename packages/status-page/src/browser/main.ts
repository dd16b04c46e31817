/** The page in the browser. It is replaced by the page itself. */
import type { Overview } from '../model/page-data.js';

/** The addresses in use, of all pools. */
export function describeOverview({ totals }: Overview): string {
  return `${totals.used} addresses are in use.`;
}
