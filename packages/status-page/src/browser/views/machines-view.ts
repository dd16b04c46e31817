import type { MachinePage, MachineWithoutAddress } from '../../model/page-data.js';
import { element, setText } from '../dom/element.js';
import { KeyedRows, type Row } from '../dom/keyed-rows.js';
import { facts } from '../parts/facts.js';
import { PART_SIZE, Pager } from '../parts/pager.js';
import { reasonList } from '../parts/reason-list.js';
import { stateBadge } from '../parts/state-badge.js';
import { timeElement } from '../parts/time-element.js';
import { describeWaits } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';
import { RecentEvents } from './recent-events.js';
import type { RequestFailure, View } from './view.js';

/** Virtual machines without an address: why, and what to do. */
export class MachinesView implements View {
  readonly title = 'Without an address';
  readonly section = 'machines';
  readonly element: HTMLElement;
  readonly events: RecentEvents;
  readonly #context: PageContext;
  readonly #list = element('ul', { class: 'cards', 'aria-label': 'Virtual machines without an address' });
  readonly #rows = new KeyedRows(this.#list);
  readonly #counts = element('p', { role: 'status' });
  readonly #allWell = element('p', { class: 'all-well' }, 'Every interface that wants an address has one.');
  readonly #pager = new Pager(['virtual machine', 'virtual machines'], () => void this.load());

  constructor(context: PageContext) {
    this.#context = context;
    this.events = new RecentEvents(context, 'machines');
    this.#allWell.hidden = true;
    this.element = element('div', {}, [
      element('p', { class: 'soft' }, 'Interfaces of virtual machines that wait for an address, or cannot have one.'),
      this.#counts,
      this.#list,
      this.#allWell,
      this.#pager.element,
    ]);
  }

  async load(): Promise<RequestFailure | undefined> {
    const answer = await this.#context.client.get<MachinePage>('api/machines-without-address', {
      limit: String(PART_SIZE),
      continue: this.#pager.part,
    });
    if (answer.kind !== 'data') return answer;
    const { rows, total, broken } = answer.data;
    const shown = new Set(rows.map(({ namespace, name }) => `${namespace}/${name}`)).size;
    if (!this.#pager.show(shown, total, answer.data.continue)) return this.load();
    this.#rows.show(rows.map((machine) => this.#toRow(machine)));
    setText(this.#counts, describeWaits(broken, total - broken));
    this.#allWell.hidden = total > 0;
    this.#pager.element.hidden = total === 0;
    return undefined;
  }

  #toRow(machine: MachineWithoutAddress): Row {
    const { namespace, name, network, mac } = machine;
    const make = (): HTMLElement => machineCard(machine, this.#context.nowMs());
    return { key: JSON.stringify([namespace, name, network, mac]), signature: JSON.stringify(machine), make };
  }
}

function machineCard(machine: MachineWithoutAddress, nowMs: number): HTMLElement {
  const { namespace, name, network, mac, state, reasons, sinceMs } = machine;
  return element('li', { class: 'card' }, [
    element('div', { class: 'card-head' }, [element('h2', {}, `${namespace}/${name}`), stateBadge(state)]),
    facts([
      ['Network', network],
      ['MAC address', mac === '' ? 'not known yet' : element('code', {}, mac)],
      ['Since', sinceMs === null ? null : timeElement(sinceMs, nowMs)],
    ]),
    reasonList(reasons),
    element('p', { class: 'soft' }, ['Step by step: ', element('code', {}, `kubectl vmdhcp why ${name} -n ${namespace}`)]),
  ]);
}
