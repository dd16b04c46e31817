/** Collects what needs attention from all sections of the page. */
import type {
  AgentsPage,
  AttentionPage,
  HostsPage,
  MachinePage,
  PageState,
  PoolSummary,
  UrgentItem,
  WakeOnLanPage,
} from '../model/page-data.js';

/** The data of the sections. A section is absent if it is not shown, or has no answer now. */
export interface SeenSections {
  readonly pools?: readonly PoolSummary[];
  readonly machines?: MachinePage;
  readonly agents?: AgentsPage;
  readonly 'wake-on-lan'?: WakeOnLanPage;
  readonly hosts?: HostsPage;
}

export type Attention = Pick<AttentionPage, 'items' | 'more'>;

const MOST_POOLS = 20;
/** The maximum number of items for each other section. */
export const MOST_OF_SECTION = 5;

/** Pools with anything to know; from other sections, items that need action or wait. */
export function toAttention(seen: SeenSections): Attention {
  const parts = [ofPools(seen.pools ?? []), ofMachines(seen.machines), ofAgents(seen.agents), ofWakeOnLan(seen['wake-on-lan'])];
  const all = [...parts, ofClusterAgents(seen.hosts), ofHosts(seen.hosts)];
  return { items: all.flatMap(({ items }) => items).toSorted(byUrgency), more: all.flatMap(({ more }) => more) };
}

const NOTHING: Attention = { items: [], more: [] };

function ofPools(pools: readonly PoolSummary[]): Attention {
  const urgent = pools.filter(({ state }) => state !== 'ok');
  const items = urgent.map((pool) => toItem(pool, { section: 'pools', kind: 'Pool', name: pool.key }));
  return cut(items, MOST_POOLS, (left) => `${describeCount(left, 'more pool', 'more pools')}: see the table below`);
}

function ofMachines(page: MachinePage | undefined): Attention {
  if (page === undefined) return NOTHING;
  const section = 'machines';
  const items = page.rows.map((row) => {
    const { namespace, name, network, mac } = row;
    return toItem(row, { section, kind: 'Virtual machine', name: `${namespace}/${name}`, part: `${network} ${mac}` });
  });
  const left = page.total - countNames(items);
  if (left === 0) return { items, more: [] };
  const broken = page.broken - countNames(items.filter(({ state }) => state === 'broken'));
  const ofWhich = broken > 0 ? `, of which ${broken} ${broken === 1 ? 'needs' : 'need'} action` : '';
  const text = `${describeCount(left, 'more virtual machine', 'more virtual machines')} without an address${ofWhich}`;
  return { items, more: [{ section, text }] };
}

function countNames(items: readonly UrgentItem[]): number {
  return new Set(items.map(({ name }) => name)).size;
}

function ofAgents(page: AgentsPage | undefined): Attention {
  const items = (page?.groups ?? [])
    .filter(isUrgent)
    .map((group) => toItem(group, { section: 'agents', kind: 'Agents', name: `${group.namespace}/${group.name}` }));
  return cut(items, MOST_OF_SECTION, (left) => describeCount(left, 'more group of agents', 'more groups of agents'));
}

function ofWakeOnLan(page: WakeOnLanPage | undefined): Attention {
  const urgent = (page?.configs ?? []).filter(isUrgent);
  const items = urgent.map((config) => toItem(config, { section: 'wake-on-lan', kind: 'WolConfig', name: config.name }));
  return cut(items, MOST_OF_SECTION, (left) => describeCount(left, 'more WolConfig', 'more WolConfigs'));
}

function ofClusterAgents(page: HostsPage | undefined): Attention {
  const urgent = (page?.clusterAgents ?? []).filter(isUrgent);
  const items = urgent.map((agent) => toItem(agent, { section: 'hosts', kind: 'ClusterAgent', name: agent.name }));
  return cut(items, MOST_OF_SECTION, (left) => describeCount(left, 'more ClusterAgent', 'more ClusterAgents'));
}

function ofHosts(page: HostsPage | undefined): Attention {
  if (page === undefined) return NOTHING;
  const section = 'hosts';
  const items = page.hosts
    .filter(({ isHealthy }) => isHealthy === false)
    .map(({ name, reasons }) => toItem({ state: 'broken', reasons }, { section, kind: 'Host', name }));
  const left = page.counts.broken - items.length;
  const text = `${describeCount(left, 'more host needs', 'more hosts need')} action`;
  return { items, more: left > 0 ? [{ section, text }] : [] };
}

function isUrgent({ state }: { readonly state: PageState }): boolean {
  return state === 'broken' || state === 'waiting';
}

type Named = Pick<UrgentItem, 'section' | 'kind' | 'name'> & Partial<Pick<UrgentItem, 'part'>>;

function toItem({ state, reasons }: Pick<PoolSummary, 'state' | 'reasons'>, named: Named): UrgentItem {
  return { part: '', ...named, state, reason: reasons[0] ?? null };
}

const URGENCY: readonly PageState[] = ['broken', 'waiting', 'note', 'ok'];

function byUrgency(one: UrgentItem, other: UrgentItem): number {
  return URGENCY.indexOf(one.state) - URGENCY.indexOf(other.state);
}

function cut(items: readonly UrgentItem[], most: number, text: (left: number) => string): Attention {
  const left = items.slice(most).length;
  const [first] = items;
  const more = first === undefined || left === 0 ? [] : [{ section: first.section, text: text(left) }];
  return { items: items.toSorted(byUrgency).slice(0, most), more };
}

function describeCount(value: number, one: string, several: string): string {
  return `${value} ${value === 1 ? one : several}`;
}
