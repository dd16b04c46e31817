import type { LeasePage, PageLease } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import { DataTable } from '../parts/data-table.js';
import { notice } from '../parts/notice.js';
import { PART_SIZE, Pager } from '../parts/pager.js';
import { timeElement } from '../parts/time-element.js';
import { formatRoute } from '../route/page-route.js';
import type { PageContext } from './page-context.js';
import type { RequestFailure, View } from './view.js';

/** A pause in typing longer than this starts a search. */
const PAUSE_MS = 250;

/** All leases, with search. */
export class LeasesView implements View {
  readonly title = 'Leases';
  readonly section = 'pools';
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #search = element('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  readonly #pool = element('select');
  readonly #table: DataTable<PageLease>;
  readonly #pager: Pager;
  readonly #nothing = notice('No lease matches', [
    element('p', {}, 'Search finds parts of an address, MAC address, virtual machine or host name.'),
  ]);
  #wantedPool: string;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Ignore answers to a search that has changed meanwhile. */
  #question = 0;

  constructor(context: PageContext, search: string, pool: string) {
    this.#context = context;
    this.#search.value = search;
    this.#wantedPool = pool;
    this.#pager = new Pager(['lease', 'leases'], () => void this.load());
    this.#table = leasesTable(context);
    const form = element('form', { class: 'search', role: 'search' }, [
      element('label', {}, [element('span', {}, 'Search'), this.#search]),
      element('label', {}, [element('span', {}, 'Pool'), this.#pool]),
    ]);
    form.addEventListener('submit', (event) => event.preventDefault());
    this.#search.addEventListener('input', () => this.#askSoon());
    this.#pool.addEventListener('change', () => {
      this.#wantedPool = this.#pool.value;
      this.#ask();
    });
    this.element = element('div', {}, [form, this.#table.element, this.#nothing, this.#pager.element]);
    this.#nothing.hidden = true;
  }

  async load(): Promise<RequestFailure | undefined> {
    this.overviewChanged();
    const question = ++this.#question;
    const answer = await this.#context.client.get<LeasePage>('api/leases', {
      search: this.#search.value.trim(),
      pool: this.#wantedPool,
      limit: String(PART_SIZE),
      continue: this.#pager.part,
    });
    if (question !== this.#question) return undefined;
    if (answer.kind !== 'data') return answer;
    const { rows, total } = answer.data;
    if (!this.#pager.show(rows.length, total, answer.data.continue)) return this.load();
    this.#table.show(rows);
    this.#table.element.hidden = rows.length === 0;
    this.#nothing.hidden = rows.length > 0;
    return undefined;
  }

  overviewChanged(): void {
    const keys = (this.#context.overview()?.pools ?? []).map(({ key }) => key);
    // A deleted pool that a link names stays in the list; otherwise the list would select another one.
    const shown = keys.includes(this.#wantedPool) || this.#wantedPool === '' ? keys : [this.#wantedPool, ...keys];
    const options = [...this.#pool.options].map(({ value }) => value);
    if (options.join() === ['', ...shown].join()) return;
    this.#pool.replaceChildren(...['', ...shown].map((key) => element('option', { value: key }, key === '' ? 'All pools' : key)));
    this.#pool.value = this.#wantedPool;
  }

  #askSoon(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#ask(), PAUSE_MS);
  }

  #ask(): void {
    this.#pager.reset();
    this.#context.rename({ view: 'leases', search: this.#search.value.trim(), pool: this.#wantedPool });
    void this.load();
  }
}

function leasesTable({ nowMs }: PageContext): DataTable<PageLease> {
  return new DataTable<PageLease>({
    caption: 'Leases, by pool and address',
    isCaptionHidden: true,
    keyOf: ({ pool, address }) => `${pool} ${address}`,
    columns: [
      {
        title: 'Address',
        cell: ({ pool, address, ipv6Address }) => [
          element('a', { href: formatRoute({ view: 'pool', pool, address }) }, address),
          ipv6Address === '' ? null : element('span', { class: 'lines soft' }, ipv6Address),
        ],
      },
      {
        title: 'Client',
        cell: (lease) => [element('span', { class: 'name' }, lease.machine || lease.hostname || 'not known'), narrowLines(lease)],
      },
      { title: 'MAC address', kind: 'wide', cell: ({ mac }) => element('code', {}, mac) },
      {
        title: 'Pool',
        kind: 'wide',
        cell: ({ pool }) => element('a', { href: formatRoute({ view: 'pool', pool, address: '' }) }, pool),
      },
      { title: 'State', kind: 'aside', cell: (lease) => toState(lease, nowMs()) },
    ],
  });
}

/** The content of wide-screen columns on narrow screens, and the host name of a virtual machine. */
function narrowLines({ machine, hostname, mac, pool }: PageLease): HTMLElement {
  return element('span', { class: 'lines soft' }, [
    machine !== '' && hostname !== '' ? element('span', {}, hostname) : null,
    element('code', { class: 'narrow' }, mac),
    element('span', { class: 'narrow' }, pool),
  ]);
}

function toState({ state, expiresAtMs }: PageLease, nowMs: number): HTMLElement {
  const name = state === 'used' ? 'Used' : 'Reserved';
  const children =
    expiresAtMs === null ? [name] : [name, element('span', { class: 'lines soft' }, ['ends ', timeElement(expiresAtMs, nowMs)])];
  return element('span', {}, children);
}
