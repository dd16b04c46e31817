import type { Overview } from '../../model/page-data.js';
import type { PageClient } from '../connection/page-client.js';
import type { PageRoute } from '../route/page-route.js';

/** What a view may use of the page around it. */
export interface PageContext {
  readonly client: PageClient;
  /** The time by the clock of the server, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The newest overview; undefined before the first one. */
  readonly overview: () => Overview | undefined;
  /** Follows the changes of a pool from this version on; of a pool that is followed already, later connections begin with this version. */
  readonly follow: (pool: string, version: string) => void;
  /** Writes the route into the address of the page, without a step in its history. */
  readonly rename: (route: PageRoute) => void;
  /** Has a screen reader read this when it is idle. */
  readonly announce: (text: string) => void;
}
