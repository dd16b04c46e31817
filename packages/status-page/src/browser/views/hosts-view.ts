import type { BareMetalHost, HostsAgent, HostsPage } from '../../model/page-data.js';
import { type Child, element, setText } from '../dom/element.js';
import { KeyedRows } from '../dom/keyed-rows.js';
import { conditionsTable } from '../parts/conditions-table.js';
import { DataTable } from '../parts/data-table.js';
import { notice } from '../parts/notice.js';
import { reasonList } from '../parts/reason-list.js';
import { stateBadge } from '../parts/state-badge.js';
import { timeElement } from '../parts/time-element.js';
import { amountOf, describeNumber, describeWaits } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';
import { RecentEvents } from './recent-events.js';
import type { RequestFailure, View } from './view.js';

/** The maximum number of rows that are drawn; search finds the others. */
const MOST_ROWS = 500;

/** Bare-metal hosts, and the agents that follow them. */
export class HostsView implements View {
  readonly title = 'Hosts';
  readonly section = 'hosts';
  /** The server lists them this often. */
  readonly reloadMs = 5_000;
  readonly element: HTMLElement;
  readonly events: RecentEvents;
  readonly #context: PageContext;
  readonly #agents = element('ul', { class: 'cards', 'aria-label': 'ClusterAgents' });
  readonly #agentRows = new KeyedRows(this.#agents);
  readonly #search = element('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  readonly #count = element('p', { class: 'soft', role: 'status' });
  readonly #table: DataTable<BareMetalHost>;
  readonly #none = notice('There is no ClusterAgent yet', [
    element(
      'p',
      {},
      'A ClusterAgent describes a management network; its agents lease addresses to management controllers there.',
    ),
  ]);
  #hosts: readonly BareMetalHost[] = [];

  constructor(context: PageContext) {
    this.#context = context;
    this.events = new RecentEvents(context, 'hosts');
    this.#table = hostsTable(context);
    const form = element('form', { class: 'search', role: 'search' }, [
      element('label', {}, [element('span', {}, 'Search hosts'), this.#search]),
    ]);
    form.addEventListener('submit', (event) => event.preventDefault());
    this.#search.addEventListener('input', () => this.#showHosts());
    this.#none.hidden = true;
    this.element = element('div', {}, [this.#agents, this.#none, form, this.#count, this.#table.element]);
  }

  async load(): Promise<RequestFailure | undefined> {
    const answer = await this.#context.client.get<HostsPage>('api/hosts');
    if (answer.kind !== 'data') return answer;
    const { clusterAgents, hosts } = answer.data;
    this.#agentRows.show(
      clusterAgents.map((agent) => ({
        key: agent.name,
        signature: JSON.stringify(agent),
        make: () => agentCard(agent, this.#context.nowMs()),
      })),
    );
    this.#none.hidden = clusterAgents.length > 0;
    this.#hosts = hosts;
    this.#showHosts();
    return undefined;
  }

  #showHosts(): void {
    const wanted = this.#search.value.trim().toLowerCase();
    const found = this.#hosts.filter((host) => matches(host, wanted));
    this.#table.show(found.slice(0, MOST_ROWS));
    this.#table.element.hidden = found.length === 0;
    const left = found.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : '';
    setText(this.#count, `${amountOf(found.length, 'host', 'hosts')}${describeHealth(found)}${left}`);
  }
}

/** `: 1 needs action, 2 not known`. */
function describeHealth(hosts: readonly BareMetalHost[]): string {
  const count = (state: boolean | null): number => hosts.filter(({ isHealthy }) => isHealthy === state).length;
  const unknown = count(null);
  const parts = [describeWaits(count(false), 0), unknown === 0 ? '' : `${describeNumber(unknown)} not known`];
  const shown = parts.filter(Boolean).join(', ');
  return shown && `: ${shown}`;
}

function matches({ name, address, mac, clusterAgent, latestWarning }: BareMetalHost, wanted: string): boolean {
  return [name, address, mac, clusterAgent, latestWarning].some((text) => text.toLowerCase().includes(wanted));
}

function agentCard({ name, state, reasons, conditions }: HostsAgent, nowMs: number): HTMLElement {
  return element('li', { class: 'card' }, [
    element('div', { class: 'card-head' }, [element('h2', {}, name), stateBadge(state)]),
    reasonList(reasons),
    conditionsTable(conditions, nowMs),
  ]);
}

function hostsTable({ nowMs }: PageContext): DataTable<BareMetalHost> {
  return new DataTable<BareMetalHost>({
    caption: 'Bare-metal hosts',
    isCaptionHidden: true,
    keyOf: ({ name }) => name,
    columns: [
      {
        title: 'Host',
        cell: ({ name, mac }) => [
          element('span', { class: 'name' }, name),
          element('span', { class: 'lines soft' }, [element('code', {}, mac)]),
        ],
      },
      {
        title: 'Address',
        cell: ({ address, hasLease }) => [
          element('code', {}, address),
          element('span', { class: 'lines soft' }, hasLease ? 'leased' : 'no lease'),
        ],
      },
      { title: 'ClusterAgent', kind: 'wide', cell: ({ clusterAgent }) => clusterAgent },
      { title: 'Health', kind: 'aside', cell: ({ isHealthy }) => toHealth(isHealthy) },
      { title: 'Details', cell: toDetails },
      {
        title: 'Updated',
        cell: ({ updatedAtMs }) => [
          element('span', { class: 'soft narrow' }, 'Updated '),
          timeElement(updatedAtMs, nowMs(), 'never'),
        ],
      },
    ],
  });
}

function toHealth(isHealthy: boolean | null): HTMLElement {
  if (isHealthy === null) return element('span', { class: 'soft' }, 'not known');
  return stateBadge(isHealthy ? 'ok' : 'broken');
}

/** Why it is not healthy, and the state of its log. */
function toDetails({ reasons, logEntries, warnings, latestWarning }: BareMetalHost): readonly Child[] {
  const counts = `${amountOf(logEntries, 'log entry', 'log entries')}, ${amountOf(warnings, 'warning', 'warnings')}`;
  return [
    reasonList(reasons),
    element('span', { class: 'lines soft' }, [
      logEntries === 0 ? null : element('span', {}, counts),
      latestWarning === '' ? null : element('span', {}, latestWarning),
    ]),
  ];
}
