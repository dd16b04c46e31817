import type { Overview, PoolChange, Section } from '../../model/page-data.js';
import type { Answer } from '../connection/page-client.js';
import type { RecentEvents } from './recent-events.js';

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
