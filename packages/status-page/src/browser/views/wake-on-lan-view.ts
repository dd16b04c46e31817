import type { PageWakeConfig, WakeOnLanPage } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import { KeyedRows } from '../dom/keyed-rows.js';
import { conditionsTable } from '../parts/conditions-table.js';
import { facts } from '../parts/facts.js';
import { notice } from '../parts/notice.js';
import { reasonList } from '../parts/reason-list.js';
import { stateBadge } from '../parts/state-badge.js';
import { describeNumber } from '../text/describe-number.js';
import type { PageContext } from './page-context.js';
import { RecentEvents } from './recent-events.js';
import type { RequestFailure, View } from './view.js';

/** WolConfigs: which machines may be woken, and whether agents listen. */
export class WakeOnLanView implements View {
  readonly title = 'Wake-on-LAN';
  readonly section = 'wake-on-lan';
  readonly element: HTMLElement;
  readonly events: RecentEvents;
  readonly #context: PageContext;
  readonly #list = element('ul', { class: 'cards', 'aria-label': 'WolConfigs' });
  readonly #rows = new KeyedRows(this.#list);
  readonly #none = notice('There is no WolConfig yet', [
    element('p', {}, 'A WolConfig names the virtual machines that a magic packet may start, and where agents listen for it.'),
  ]);

  constructor(context: PageContext) {
    this.#context = context;
    this.events = new RecentEvents(context, 'wake-on-lan');
    this.#none.hidden = true;
    this.element = element('div', {}, [this.#list, this.#none]);
  }

  async load(): Promise<RequestFailure | undefined> {
    const answer = await this.#context.client.get<WakeOnLanPage>('api/wake-on-lan');
    if (answer.kind !== 'data') return answer;
    const { configs } = answer.data;
    this.#rows.show(
      configs.map((config) => ({
        key: config.name,
        signature: JSON.stringify(config),
        make: () => configCard(config, this.#context.nowMs()),
      })),
    );
    this.#none.hidden = configs.length > 0;
    return undefined;
  }
}

function configCard(
  { name, mode, ports, managedMachines, agents, state, reasons, conditions }: PageWakeConfig,
  nowMs: number,
): HTMLElement {
  return element('li', { class: 'card' }, [
    element('div', { class: 'card-head' }, [element('h2', {}, name), stateBadge(state)]),
    reasonList(reasons),
    facts([
      ['Mode', mode],
      ['UDP ports', ports.join(', ')],
      ['Machines that may be woken', managedMachines === null ? 'not known yet' : describeNumber(managedMachines)],
      ['Agents that listen', agents === null ? 'not known yet' : `${agents.ready} of ${agents.wanted} (${agents.daemonSet})`],
    ]),
    conditionsTable(conditions, nowMs),
  ]);
}
