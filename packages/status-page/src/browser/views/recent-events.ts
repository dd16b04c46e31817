import type { EventsOf, RecentEvent, RecentEventsPage } from '../../model/page-data.js';
import { element, fill } from '../dom/element.js';
import { DataTable } from '../parts/data-table.js';
import { stateBadge } from '../parts/state-badge.js';
import { timeElement } from '../parts/time-element.js';
import { amountOf } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';

/** The newest Kubernetes Events about what a view shows. */
export class RecentEvents {
  readonly element = element('section', { 'aria-labelledby': 'recent-events', hidden: true });
  readonly #context: PageContext;
  readonly #parameters: { readonly of: EventsOf; readonly pool: string };
  readonly #note = element('p', { class: 'soft' });
  readonly #table: DataTable<RecentEvent>;
  #loadedAtMs = Number.NEGATIVE_INFINITY;

  /** @param pool - only events of this pool; empty for all. */
  constructor(context: PageContext, of: EventsOf, pool = '') {
    this.#context = context;
    this.#parameters = { of, pool };
    this.#table = eventsTable(context.nowMs);
    fill(this.element, [element('h2', { id: 'recent-events' }, 'Recent Events'), this.#note, this.#table.element]);
  }

  /** Requests them if the last request is older than this many milliseconds. Never rejects. */
  async load(afterMs = 0): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#loadedAtMs < afterMs) return;
    this.#loadedAtMs = nowMs;
    const access = this.#context.overview()?.sections.events;
    this.element.hidden = access === undefined || access.kind === 'off';
    if (this.element.hidden) return;
    if (access?.kind === 'denied') {
      this.#show([], `Events are not shown: your user lacks the right to ${access.right}.`);
      return;
    }
    const answer = await this.#context.client.get<RecentEventsPage>('api/recent-events', this.#parameters);
    if (answer.kind !== 'data') this.#show([], `Events cannot be read now: ${answer.message}.`);
    else
      this.#show(
        answer.data.rows,
        answer.data.rows.length === 0 ? 'There are none. Kubernetes keeps Events for an hour by default.' : '',
      );
  }

  #show(rows: readonly RecentEvent[], note: string): void {
    this.#note.textContent = note;
    this.#note.hidden = note === '';
    this.#table.element.hidden = rows.length === 0;
    this.#table.show(rows);
  }
}

function eventsTable(nowMs: () => number): DataTable<RecentEvent> {
  return new DataTable<RecentEvent>({
    caption: 'Recent Events, the newest first',
    isCaptionHidden: true,
    keyOf: ({ kind, namespace, name, reason, message }) => JSON.stringify([kind, namespace, name, reason, message]),
    columns: [
      {
        title: 'Reason',
        cell: ({ reason, count, kind, namespace, name }) => [
          element('code', { class: 'reason' }, reason),
          element('span', { class: 'lines soft' }, [
            element('span', {}, `${kind} ${namespace}/${name}`),
            count > 1 ? element('span', {}, amountOf(count, 'time', 'times')) : null,
          ]),
        ],
      },
      { title: 'Message', cell: ({ message }) => message },
      { title: 'Last seen', cell: ({ lastAtMs }) => timeElement(lastAtMs, nowMs()) },
      {
        title: 'Type',
        kind: 'aside',
        cell: ({ isWarning }) => stateBadge(isWarning ? 'broken' : 'note', isWarning ? 'Warning' : 'Normal'),
      },
    ],
  });
}
