import type { AgentsPage, PageAgentGroup, ReportedPool } from '../../model/page-data.js';
import { type Child, element, fill } from '../dom/element.js';
import { KeyedRows, type Row } from '../dom/keyed-rows.js';
import { DataTable } from '../parts/data-table.js';
import { facts } from '../parts/facts.js';
import { leaderTimeline } from '../parts/leader-timeline.js';
import { notice } from '../parts/notice.js';
import { reasonList } from '../parts/reason-list.js';
import { stateBadge } from '../parts/state-badge.js';
import { moveTime, timeElement } from '../parts/time-element.js';
import { formatRoute } from '../route/page-route.js';
import { describeNumber } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';
import { RecentEvents } from './recent-events.js';
import type { RequestFailure, View } from './view.js';

/** A timeline of less time would show a single bar. */
const SHORTEST_PICTURE_MS = 60_000;

/** The groups of agents: their leaders, since when, and the pools that they serve. */
export class GroupsView implements View {
  readonly title = 'Agents';
  readonly section = 'agents';
  /** No event tells that agents have died: their Lease does not change any more. */
  readonly reloadMs = 5_000;
  readonly element: HTMLElement;
  readonly events: RecentEvents;
  readonly #context: PageContext;
  readonly #intro = element('p', { class: 'soft' });
  readonly #list = element('ul', { class: 'cards wide-cards', 'aria-label': 'Groups of agents' });
  readonly #rows = new KeyedRows(this.#list);
  /** When each Lease was renewed. That changes every few seconds, so it does not rebuild the card. */
  readonly #renewed = new Map<string, HTMLElement>();
  readonly #none = notice('No agents run yet', [element('p', {}, 'The controller deploys agents when there is an IPPool.')]);

  constructor(context: PageContext) {
    this.#context = context;
    this.events = new RecentEvents(context, 'agents');
    this.#none.hidden = true;
    this.element = element('div', {}, [this.#intro, this.#list, this.#none]);
  }

  async load(): Promise<RequestFailure | undefined> {
    const answer = await this.#context.client.get<AgentsPage>('api/agents');
    if (answer.kind !== 'data') return answer;
    const { groups, followedSinceMs } = answer.data;
    const nowMs = this.#context.nowMs();
    fill(this.#intro, [
      'The replicas of a group elect a leader, which alone serves its pools. This server has followed them since ',
      timeElement(followedSinceMs, nowMs),
      '.',
    ]);
    this.#rows.show(groups.map((group) => this.#toRow(group, followedSinceMs)));
    for (const { namespace, name, renewedAtMs } of groups) {
      const shown = this.#renewed.get(`${namespace}/${name}`);
      if (shown !== undefined && renewedAtMs !== null) moveTime(shown, renewedAtMs, nowMs);
    }
    this.#none.hidden = groups.length > 0;
    return undefined;
  }

  #toRow(group: PageAgentGroup, followedSinceMs: number): Row {
    // The current term grows in the picture, so redraw it each minute, but not for each renewal of a Lease.
    const nowMs = this.#context.nowMs();
    const signature = JSON.stringify([{ ...group, renewedAtMs: null }, Math.floor(nowMs / 60_000), group.renewedAtMs === null]);
    const from = Math.min(followedSinceMs, nowMs - SHORTEST_PICTURE_MS);
    const key = `${group.namespace}/${group.name}`;
    const make = (): HTMLElement => {
      const renewed = timeElement(group.renewedAtMs, nowMs, 'never');
      this.#renewed.set(key, renewed);
      return groupCard(group, renewed, { from, nowMs });
    };
    return { key, signature, make };
  }
}

function groupCard(
  group: PageAgentGroup,
  renewed: HTMLElement,
  { from, nowMs }: { readonly from: number; readonly nowMs: number },
): HTMLElement {
  const { namespace, name, state, reasons, leader, transitions, terms, pools } = group;
  const since = terms.find(({ untilMs }) => untilMs === null)?.fromMs ?? null;
  return element('li', { class: 'card' }, [
    element('div', { class: 'card-head' }, [element('h2', {}, `${namespace}/${name}`), stateBadge(state)]),
    leader === '' ? reasonList(reasons) : null,
    facts([
      ['Leader', leader === '' ? 'none now: no client gets a reply' : leader],
      ['Leader since', since === null || leader === '' ? null : timeElement(since, nowMs)],
      ['Lease renewed', renewed],
      ['Changes of leader, in all', describeNumber(transitions)],
    ]),
    leaderTimeline(group, from, nowMs),
    pools.length === 0
      ? element('p', { class: 'soft' }, leader === '' ? 'No leader reports its pools.' : 'The leader reports no pools.')
      : poolsTable(name, pools),
  ]);
}

function poolsTable(group: string, pools: readonly ReportedPool[]): HTMLElement {
  const table = new DataTable<ReportedPool>({
    caption: `Pools of ${group}`,
    isCaptionHidden: true,
    keyOf: ({ pool }) => pool,
    columns: [
      { title: 'Pool', cell: ({ pool }) => element('a', { href: formatRoute({ view: 'pool', pool, address: '' }) }, pool) },
      { title: 'State', kind: 'aside', cell: ({ state }) => stateBadge(state) },
      { title: 'Details', cell: toDetails },
    ],
  });
  table.show(pools);
  return table.element;
}

function toDetails({ reason, findings }: ReportedPool): readonly Child[] {
  return [reason === undefined ? null : reasonList([reason]), ...findings.map((finding) => element('p', {}, finding))];
}
