import type { Overview, PoolChange, Section } from '../../model/page-data.js';
import type { RequestResult } from '../connection/page-client.js';
import type { RecentEvents } from './recent-events.js';

/** A result without data. */
export type RequestFailure = Exclude<RequestResult<never>, { kind: 'data' }>;

/** The view of one tab. */
export interface View {
  /** The heading. */
  readonly title: string;
  /** The pool that it follows; absent if it follows none. */
  readonly pool?: string;
  readonly element: HTMLElement;
  /** The section whose data it shows. */
  readonly section: Section;
  /** Other sections whose changes affect it. */
  readonly alsoShows?: readonly Section[];
  /** How often to reload it, in milliseconds, if the server does not follow its changes. Absent for never. */
  readonly reloadMs?: number;
  /** Loads and shows its data; undefined on success. Never rejects. */
  load(): Promise<RequestFailure | undefined>;
  overviewChanged?(overview: Overview): void;
  poolChanged?(change: PoolChange): void;
  /** Kubernetes Events about what it shows; below its element. */
  readonly events?: RecentEvents;
  /** Called when the colours of the style sheet have changed. */
  recolor?(): void;
}
