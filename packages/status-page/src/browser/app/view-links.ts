import type { Overview, Section } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import type { PageRoute } from '../route/page-route.js';

const LINKS: readonly {
  readonly href: string;
  readonly text: string;
  readonly views: readonly PageRoute['view'][];
  readonly section: Section;
}[] = [
  { href: '#/', text: 'Overview', views: ['overview', 'pool'], section: 'pools' },
  { href: '#/leases', text: 'Leases', views: ['leases'], section: 'pools' },
  { href: '#/machines', text: 'Without an address', views: ['machines'], section: 'machines' },
  { href: '#/agents', text: 'Agents', views: ['agents'], section: 'agents' },
  { href: '#/wake-on-lan', text: 'Wake-on-LAN', views: ['wake-on-lan'], section: 'wake-on-lan' },
  { href: '#/hosts', text: 'Hosts', views: ['hosts'], section: 'hosts' },
];

/** The links to the views; one of them is current. */
export class ViewLinks {
  readonly #links: readonly HTMLAnchorElement[];

  constructor(nav: HTMLElement) {
    this.#links = LINKS.map(({ href, text }) => element('a', { href }, text));
    nav.replaceChildren(...this.#links);
  }

  showCurrent(view: PageRoute['view']): void {
    for (const [index, link] of this.#links.entries()) {
      const isCurrent = LINKS[index]?.views.includes(view) === true;
      if (!isCurrent) link.removeAttribute('aria-current');
      else {
        link.setAttribute('aria-current', view === 'pool' ? 'true' : 'page');
        // On narrow screens the links scroll.
        link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    }
  }

  /** Views without data are marked, and explain why when they are opened. On a bare host, views that are off are left out. */
  showAccess({ source, sections }: Overview): void {
    for (const [index, link] of this.#links.entries()) {
      const section = LINKS[index]?.section ?? 'pools';
      const { kind } = sections[section];
      link.classList.toggle('faint', kind !== 'shown');
      link.hidden = source === 'bare-host' && kind === 'off';
    }
  }
}
