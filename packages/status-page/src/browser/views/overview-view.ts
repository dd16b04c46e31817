import type { AttentionPage, Overview, PoolSummary, UrgentItem } from '../../model/page-data.js';
import { element, fill, setText } from '../dom/element.js';
import { KeyedRows, type Row } from '../dom/keyed-rows.js';
import { DataTable } from '../parts/data-table.js';
import { facts } from '../parts/facts.js';
import { fillBar } from '../parts/fill-bar.js';
import { notice } from '../parts/notice.js';
import { stateBadge } from '../parts/state-badge.js';
import { formatRoute } from '../route/page-route.js';
import { describeNumber } from '../text/describe-number.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';
import type { PageContext } from './page-context.js';
import type { RequestFailure, View } from './view.js';

/** Other sections do not have an event for every change. */
const RELOAD_MS = 10_000;
const COUNTED = ['used', 'free', 'reserved', 'excluded', 'quarantined'] as const;

/** Shows what needs attention, then all pools. */
export class OverviewView implements View {
  readonly title = 'Overview';
  readonly section = 'pools';
  readonly alsoShows = ['machines', 'wake-on-lan'] as const;
  readonly reloadMs = RELOAD_MS;
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #about = element('div');
  readonly #urgent = element('ul', { class: 'urgent' });
  readonly #urgentRows = new KeyedRows(this.#urgent);
  readonly #verdict = element('p');
  readonly #notSeen = element('p', { class: 'soft' });
  readonly #totals = element('ul', { class: 'totals', 'aria-label': 'Addresses of all pools, by state' });
  readonly #pools = poolsTable();
  readonly #noPools = notice('There are no pools yet', [
    element('p', {}, 'Create an IPPool, or write a pool into the pools file of the agent.'),
  ]);
  #attention: AttentionPage | undefined;

  constructor(context: PageContext) {
    this.#context = context;
    this.element = element('div', {}, [
      this.#about,
      element('section', { 'aria-labelledby': 'attention' }, [
        element('h2', { id: 'attention' }, 'Needs attention'),
        this.#urgent,
        this.#verdict,
        this.#notSeen,
      ]),
      element('section', { 'aria-labelledby': 'pools' }, [
        element('h2', { id: 'pools' }, 'Pools'),
        this.#totals,
        this.#pools.element,
        this.#noPools,
      ]),
    ]);
  }

  async load(): Promise<RequestFailure | undefined> {
    const answer = await this.#context.client.get<AttentionPage>('api/attention');
    if (answer.kind !== 'data') return answer;
    this.#attention = answer.data;
    const newest = this.#context.overview();
    if (newest !== undefined) this.overviewChanged(newest);
    return undefined;
  }

  overviewChanged(overview: Overview): void {
    fill(this.#about, [toAbout(overview), toUnready(overview)]);
    if (this.#attention !== undefined) this.#showAttention(this.#attention);
    fill(
      this.#totals,
      COUNTED.map((state) => toTotal(ADDRESS_STATE_WORDS[state].name, overview.totals[state], state)),
    );
    this.#pools.show(overview.pools);
    this.#pools.element.hidden = overview.pools.length === 0;
    this.#noPools.hidden = overview.pools.length > 0;
  }

  #showAttention({ items, more, verdict, notSeen, isWhole }: AttentionPage): void {
    this.#urgentRows.show([...items.map(toRow), ...more.map(moreRow)]);
    this.#verdict.hidden = items.length > 0;
    this.#verdict.className = isWhole ? 'all-well' : 'notice';
    setText(this.#verdict, verdict);
    this.#notSeen.hidden = notSeen.length === 0;
    setText(this.#notSeen, `Not looked at: ${notSeen.join('; ')}.`);
  }
}

function toAbout({ source, version, servedBy, isLeader, user }: Overview): HTMLElement {
  const role = isLeader === null ? '' : isLeader ? ' (leader)' : ' (standby: it sees the same)';
  return facts([
    [source === 'cluster' ? 'Controller' : 'Host', `${servedBy}${role}`],
    ['Version', version],
    ['User', user],
  ]);
}

function toUnready({ unready }: Overview): HTMLElement | null {
  if (unready.length === 0) return null;
  return notice('Not everything is known yet', [
    element(
      'ul',
      {},
      unready.map((text) => element('li', {}, text)),
    ),
  ]);
}

function toTotal(name: string, count: number, state: string): HTMLElement {
  return element('li', {}, [
    element('span', { class: `swatch state-${state}`, 'aria-hidden': 'true' }),
    element('span', { class: 'total-count' }, describeNumber(count)),
    element('span', { class: 'soft' }, name),
  ]);
}

function toRow(item: UrgentItem): Row {
  const { kind, name, part } = item;
  return { key: JSON.stringify([kind, name, part]), signature: JSON.stringify(item), make: () => urgentItem(item) };
}

function urgentItem({ section, state, kind, name, reason }: UrgentItem): HTMLElement {
  const href = section === 'pools' ? formatRoute({ view: 'pool', pool: name, address: '' }) : `#/${section}`;
  return element('li', { class: `urgent-${state}` }, [
    stateBadge(state),
    element('div', {}, [
      element('p', {}, [element('span', { class: 'soft' }, `${kind} `), element('a', { href }, name)]),
      reason === null
        ? null
        : element('p', {}, [element('code', { class: 'reason' }, reason.reason), ` ${reason.message || reason.meaning}`]),
    ]),
  ]);
}

function moreRow({ section, text }: AttentionPage['more'][number]): Row {
  const make = (): HTMLElement => element('li', {}, [section === 'pools' ? text : element('a', { href: `#/${section}` }, text)]);
  return { key: `more ${text}`, signature: text, make };
}

function poolsTable(): DataTable<PoolSummary> {
  return new DataTable<PoolSummary>({
    caption: 'Pools',
    isCaptionHidden: true,
    keyOf: ({ key }) => key,
    columns: [
      { title: 'Pool', cell: ({ key }) => element('a', { href: formatRoute({ view: 'pool', pool: key, address: '' }) }, key) },
      { title: 'Subnet', kind: 'wide', cell: ({ cidr }) => element('code', {}, cidr === '' ? 'not readable' : cidr) },
      { title: 'Addresses', cell: ({ counts }) => fillBar(counts) },
      { title: 'Network', kind: 'wide', cell: ({ network }) => network },
      { title: 'Served by', kind: 'wide', cell: ({ servedByPod }) => (servedByPod === '' ? 'none' : servedByPod) },
      { title: 'State', kind: 'aside', cell: ({ state }) => stateBadge(state) },
    ],
  });
}
