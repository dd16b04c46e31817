import type { PoolChange, PoolPage, PoolSummary } from '../../model/page-data.js';
import { element, fill } from '../dom/element.js';
import { AddressPicture } from '../map/address-picture.js';
import { conditionsTable } from '../parts/conditions-table.js';
import { facts } from '../parts/facts.js';
import { fillBar } from '../parts/fill-bar.js';
import { notice } from '../parts/notice.js';
import { reasonList } from '../parts/reason-list.js';
import { stateBadge } from '../parts/state-badge.js';
import { formatRoute } from '../route/page-route.js';
import { amountOf } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';
import { RecentEvents } from './recent-events.js';
import type { RequestFailure, View } from './view.js';

/** A screen reader announces changes at most this often. */
const ANNOUNCE_EVERY_MS = 10_000;

/** One pool: its address map, which changes while people look at it. */
export class MapView implements View {
  readonly title: string;
  readonly section = 'pools';
  readonly element: HTMLElement;
  readonly events: RecentEvents;
  readonly pool: string;
  readonly #context: PageContext;
  readonly #summary = element('div');
  readonly #map = element('section', { 'aria-labelledby': 'addresses' }, [element('h2', { id: 'addresses' }, 'Addresses')]);
  readonly #conditions = element('section', { 'aria-label': 'Conditions of the pool' });
  #address: string;
  #picture: AddressPicture | undefined;
  #version = '';
  #shownSummary = '';
  #shownHealth = '';
  #shownConditions = '';
  /** Changes that arrived while the pool is being requested; undefined if it is not. */
  #waiting: PoolChange[] | undefined;
  #changed = 0;
  #announcedAtMs: number | undefined;

  constructor(context: PageContext, pool: string, address: string) {
    this.title = `Pool ${pool}`;
    this.#context = context;
    this.events = new RecentEvents(context, 'pools', pool);
    this.pool = pool;
    this.#address = address;
    this.element = element('div', {}, [this.#summary, this.#map, this.#conditions]);
  }

  async load(): Promise<RequestFailure | undefined> {
    // Collects changes that arrive during the request.
    this.#waiting ??= [];
    const path = `api/pools/${this.pool.split('/').map(encodeURIComponent).join('/')}`;
    const answer = await this.#context.client.get<PoolPage>(path);
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (answer.kind !== 'data') return answer;
    this.#show(answer.data);
    this.#context.follow(this.pool, this.#version);
    this.#catchUp(waiting);
    return undefined;
  }

  poolChanged(change: PoolChange): void {
    if (change.pool !== this.pool) return;
    if (this.#waiting !== undefined) {
      this.#waiting.push(change);
      return;
    }
    if (!isAfter(change, this.#version) || change.kind === 'reset') {
      void this.load();
      return;
    }
    this.#version = change.version;
    this.#context.follow(this.pool, change.version);
    this.#picture?.apply(change);
    this.#announce(change.leases.length + change.removed.length);
    // Only the full answer contains conditions and quarantined addresses.
    if (toHealth(change.summary) !== this.#shownHealth) void this.load();
    this.#showSummary(change.summary);
  }

  recolor(): void {
    this.#picture?.recolor();
  }

  /** Applies the changes that arrived during the request and are not in the answer. */
  #catchUp(changes: readonly PoolChange[]): void {
    const last = changes.at(-1);
    if (last === undefined || (last.kind === 'changes' && last.version === this.#version)) return;
    const next = changes.findIndex((change) => isAfter(change, this.#version));
    if (next < 0) void this.load();
    else for (const change of changes.slice(next)) this.poolChanged(change);
  }

  #show(page: PoolPage): void {
    performance.clearMarks('vmdhcp-picture');
    performance.mark('vmdhcp-data');
    this.#version = page.version;
    this.#showSummary(page.summary);
    this.#showMap(page);
    const conditions = JSON.stringify(page.conditions);
    if (conditions !== this.#shownConditions) fill(this.#conditions, [conditionsTable(page.conditions, this.#context.nowMs())]);
    this.#shownConditions = conditions;
  }

  #showSummary(summary: PoolSummary): void {
    this.#shownHealth = toHealth(summary);
    const signature = JSON.stringify(summary);
    if (signature === this.#shownSummary) return;
    this.#shownSummary = signature;
    fill(this.#summary, [
      element('p', {}, [stateBadge(summary.state)]),
      reasonList(summary.reasons),
      fillBar(summary.counts),
      facts([
        ['Subnet', summary.cidr],
        ['Range', summary.start === '' ? null : `${summary.start} to ${summary.end}`],
        ['DHCP server', summary.serverAddress],
        ['Network', summary.network],
        ['Served by', summary.servedByPod === '' ? 'none' : summary.servedByPod],
        ['Agents', summary.agents],
      ]),
      element('p', {}, [
        element('a', { href: formatRoute({ view: 'leases', search: '', pool: summary.key }) }, 'All leases of this pool'),
      ]),
    ]);
  }

  #showMap({ map, quarantined }: PoolPage): void {
    if (map !== null && this.#picture?.replace(map, quarantined) === true) return;
    const heading = this.#map.firstElementChild;
    this.#picture = undefined;
    if (map === null) {
      fill(this.#map, [
        heading,
        notice('The pool has no subnet that can be read', [element('p', {}, 'The reasons above name what is wrong.')]),
      ]);
      return;
    }
    const made = AddressPicture.of({
      client: this.#context.client,
      pool: this.pool,
      map,
      nowMs: this.#context.nowMs,
      onSelect: (address) => this.#rename(address),
    });
    if (made instanceof AddressPicture) this.#picture = made;
    fill(this.#map, [heading, made instanceof AddressPicture ? made.element : made]);
    this.#picture?.start(this.#address, quarantined);
  }

  #rename(address: string): void {
    if (address === this.#address) return;
    const isFirst = this.#address === '';
    this.#address = address;
    // The address of the page names only an address that the user selected.
    if (!isFirst) this.#context.rename({ view: 'pool', pool: this.pool, address });
  }

  #announce(count: number): void {
    this.#changed += count;
    const nowMs = performance.now();
    this.#announcedAtMs ??= nowMs;
    if (this.#changed === 0 || nowMs - this.#announcedAtMs < ANNOUNCE_EVERY_MS) return;
    this.#announcedAtMs = nowMs;
    this.#context.announce(`${amountOf(this.#changed, 'lease has', 'leases have')} changed in ${this.pool}.`);
    this.#changed = 0;
  }
}

/** Whether a change continues this version. */
function isAfter(change: PoolChange, version: string): boolean {
  return change.kind === 'changes' && change.since === version;
}

function toHealth({ state, reasons, counts }: PoolSummary): string {
  return JSON.stringify([state, reasons, counts.quarantined]);
}
