import type { Overview, PoolChange, Section } from '../../model/page-data.js';
import type { Answer, PageClient } from '../connection/page-client.js';
import type { RecentEvents } from '../parts/recent-events.js';
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

/** What a request gave that is not data. */
export type Failure = Exclude<Answer<never>, { kind: 'data' }>;

/** What one tab shows. */
export interface View {
  /** The heading. */
  readonly title: string;
  readonly element: HTMLElement;
  /** Whose data it shows. */
  readonly section: Section;
  /** Sections whose changes concern it too. */
  readonly alsoShows?: readonly Section[];
  /** Whether it is asked for again when a pool has changed. */
  readonly isLoadedWithPools?: boolean;
  /** How often it is asked for again, in milliseconds: of data whose changes the server does not follow. Absent: never. */
  readonly reloadMs?: number;
  /** Asks for its data and shows it; undefined: it did. Never rejects. */
  load(): Promise<Failure | undefined>;
  overviewChanged?(overview: Overview): void;
  poolChanged?(change: PoolChange): void;
  /** Kubernetes Events about what it shows; below its element. */
  readonly events?: RecentEvents;
  /** Colours of the style sheet are others now. */
  recolor?(): void;
}
