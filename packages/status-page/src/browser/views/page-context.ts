import type { Overview } from '../../model/page-data.js';
import type { PageClient } from '../connection/page-client.js';
import type { PageRoute } from '../route/page-route.js';

/** The parts of the page that a view may use. */
export interface PageContext {
  readonly client: PageClient;
  /** The time by the clock of the server, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The newest overview; undefined before the first one. */
  readonly overview: () => Overview | undefined;
  /** Follows the changes of a pool from this version on; if the pool is already followed, later connections begin with this version. */
  readonly follow: (pool: string, version: string) => void;
  /** Writes the route into the address of the page, without a step in its history. */
  readonly rename: (route: PageRoute) => void;
  /** Makes a screen reader read this when it is idle. */
  readonly announce: (text: string) => void;
}
