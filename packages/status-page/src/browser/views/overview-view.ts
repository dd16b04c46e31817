import type { MachinePage, MachineWithoutAddress, Overview, PageState, PoolSummary } from '../../model/page-data.js';
import { element, fill } from '../dom/element.js';
import { KeyedRows, type Row } from '../dom/keyed-rows.js';
import { DataTable } from '../parts/data-table.js';
import { facts } from '../parts/facts.js';
import { fillBar } from '../parts/fill-bar.js';
import { notice } from '../parts/notice.js';
import { stateBadge } from '../parts/state-badge.js';
import { formatRoute } from '../route/page-route.js';
import { describeCount, describeNumber } from '../text/describe-count.js';
import { ADDRESS_STATE_WORDS, compareUrgency } from '../text/state-words.js';
import type { PageContext } from './page-context.js';
import type { Failure, View } from './view.js';

const MOST_MACHINES = 5;
const MOST_URGENT = 20;
const COUNTED = ['used', 'free', 'reserved', 'excluded', 'quarantined'] as const;

/** What needs attention first, then all pools. */
export class OverviewView implements View {
  readonly title = 'Overview';
  readonly section = 'pools';
  readonly alsoShows = ['machines'] as const;
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #about = element('div');
  readonly #urgent = element('ul', { class: 'urgent' });
  readonly #urgentRows = new KeyedRows(this.#urgent);
  readonly #allWell = element('p', { class: 'all-well' }, 'Nothing needs attention.');
  readonly #totals = element('ul', { class: 'totals', 'aria-label': 'Addresses of all pools, by state' });
  readonly #pools = poolsTable();
  readonly #noPools = notice('There are no pools yet', [
    element('p', {}, 'Create an IPPool, or write a pool into the pools file of the agent.'),
  ]);
  #machines: MachinePage | undefined;

  constructor(context: PageContext) {
    this.#context = context;
    this.element = element('div', {}, [
      this.#about,
      element('section', { 'aria-labelledby': 'attention' }, [
        element('h2', { id: 'attention' }, 'Needs attention'),
        this.#urgent,
        this.#allWell,
      ]),
      element('section', { 'aria-labelledby': 'pools' }, [
        element('h2', { id: 'pools' }, 'Pools'),
        this.#totals,
        this.#pools.element,
        this.#noPools,
      ]),
    ]);
  }

  async load(): Promise<Failure | undefined> {
    const overview = this.#context.overview();
    if (overview?.sections.machines.kind === 'shown') {
      const answer = await this.#context.client.get<MachinePage>('api/machines-without-address', {
        limit: String(MOST_MACHINES),
      });
      if (answer.kind !== 'data') return answer;
      this.#machines = answer.data;
    }
    const newest = this.#context.overview();
    if (newest !== undefined) this.overviewChanged(newest);
    return undefined;
  }

  overviewChanged(overview: Overview): void {
    fill(this.#about, [toAbout(overview), toUnready(overview)]);
    const urgent = overview.pools
      .filter(({ state }) => state !== 'ok')
      .sort((one, other) => compareUrgency(one.state, other.state));
    const machines = this.#machines?.rows ?? [];
    const rows = [...urgent.slice(0, MOST_URGENT).map(toPoolRow), ...machines.map(toMachineRow)];
    rows.sort((one, other) => compareUrgency(one.state, other.state));
    this.#urgentRows.show([...rows, ...this.#moreRows(urgent.length)]);
    this.#allWell.hidden = urgent.length > 0 || machines.length > 0;
    fill(
      this.#totals,
      COUNTED.map((state) => toTotal(ADDRESS_STATE_WORDS[state].name, overview.totals[state], state)),
    );
    this.#pools.show(overview.pools);
    this.#pools.element.hidden = overview.pools.length === 0;
    this.#noPools.hidden = overview.pools.length > 0;
  }

  #moreRows(urgentPools: number): Row[] {
    const pools = urgentPools - MOST_URGENT;
    const shown = new Set(this.#machines?.rows.map(({ namespace, name }) => `${namespace}/${name}`));
    const machines = (this.#machines?.total ?? 0) - shown.size;
    return [
      ...(pools > 0 ? [moreRow(`${describeCount(pools, 'more pool', 'more pools')}: see the table below`, undefined)] : []),
      ...(machines > 0
        ? [
            moreRow(
              `${describeCount(machines, 'more virtual machine', 'more virtual machines')} without an address`,
              '#/machines',
            ),
          ]
        : []),
    ];
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

type UrgentRow = Row & { readonly state: PageState };

function toPoolRow({ key, state, reasons }: PoolSummary): UrgentRow {
  const link = { href: formatRoute({ view: 'pool', pool: key, address: '' }), text: key };
  const shown = { state, link, kind: 'Pool', first: reasons[0] };
  return { state, key: `pool ${key}`, signature: JSON.stringify(shown), make: () => urgentItem(shown) };
}

function toMachineRow({ namespace, name, network, state, reasons }: MachineWithoutAddress): UrgentRow {
  const shown = { state, link: { href: '#/machines', text: `${namespace}/${name}` }, kind: 'Virtual machine', first: reasons[0] };
  return {
    state,
    key: `machine ${namespace}/${name} ${network}`,
    signature: JSON.stringify(shown),
    make: () => urgentItem(shown),
  };
}

interface Urgent {
  readonly state: PageState;
  readonly link: { readonly href: string; readonly text: string };
  readonly kind: string;
  readonly first: { readonly reason: string; readonly message: string; readonly meaning: string } | undefined;
}

function urgentItem({ state, link, kind, first }: Urgent): HTMLElement {
  return element('li', { class: `urgent-${state}` }, [
    stateBadge(state),
    element('div', {}, [
      element('p', {}, [element('span', { class: 'soft' }, `${kind} `), element('a', { href: link.href }, link.text)]),
      first === undefined
        ? null
        : element('p', {}, [element('code', { class: 'reason' }, first.reason), ` ${first.message || first.meaning}`]),
    ]),
  ]);
}

function moreRow(text: string, href: string | undefined): Row {
  const make = (): HTMLElement => element('li', {}, [href === undefined ? text : element('a', { href }, text)]);
  return { key: `more ${href ?? ''}`, signature: text, make };
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
      { title: 'Served by', kind: 'wide', cell: ({ servedByPod }) => (servedByPod === '' ? 'no pod' : servedByPod) },
      { title: 'State', kind: 'aside', cell: ({ state }) => stateBadge(state) },
    ],
  });
}
