import type { AddressState, PageLease, QuarantinedAddress } from '../../model/page-data.js';
import { type Child, element, fill } from '../dom/element.js';
import { facts } from '../parts/facts.js';
import { timeElement } from '../parts/time-element.js';
import { formatRoute } from '../route/page-route.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';

/** The details of one address. */
export interface InspectedAddress {
  readonly address: string;
  readonly state: AddressState;
  readonly lease: PageLease | undefined;
  /** Whether the owners of its block have arrived. */
  readonly isOwnerKnown: boolean;
  readonly quarantined: QuarantinedAddress | undefined;
}

/** Describes one address in words. */
export class AddressInspector {
  readonly element = element('section', { class: 'inspector', 'aria-label': 'The selected address' });
  #signature = '';

  show(inspected: InspectedAddress, nowMs: number): void {
    const signature = JSON.stringify(inspected);
    if (signature === this.#signature) return;
    this.#signature = signature;
    const { address, state, quarantined, lease } = inspected;
    const words = ADDRESS_STATE_WORDS[state];
    fill(this.element, [
      element('p', { class: 'inspected' }, [
        element('span', { class: `swatch state-${state}`, 'aria-hidden': 'true' }),
        element('strong', { class: 'address' }, address),
        element('span', {}, words.name),
      ]),
      element('p', { class: 'soft' }, `${words.meaning.charAt(0).toUpperCase()}${words.meaning.slice(1)}.`),
      lease === undefined ? toMissingOwner(inspected) : leaseFacts(lease, nowMs),
      quarantined === undefined ? null : quarantineFacts(quarantined, nowMs),
    ]);
  }
}

function toMissingOwner({ state, isOwnerKnown }: InspectedAddress): Child {
  if (state !== 'used' && state !== 'reserved') return null;
  return element('p', { class: 'soft' }, isOwnerKnown ? 'Its client is not known.' : 'Select the address to see its client.');
}

function leaseFacts(lease: PageLease, nowMs: number): HTMLElement {
  const search = formatRoute({ view: 'leases', search: lease.address, pool: lease.pool });
  return element('div', {}, [
    facts([
      ['Machine', lease.machine],
      ['Host name', lease.hostname],
      ['IPv6 address', lease.ipv6Address === '' ? null : element('code', {}, lease.ipv6Address)],
      ['MAC address', lease.mac === '' ? null : element('code', {}, lease.mac)],
      ['Ends', lease.expiresAtMs === null ? null : timeElement(lease.expiresAtMs, nowMs)],
    ]),
    element('p', {}, [element('a', { href: search }, 'Show in leases')]),
  ]);
}

function quarantineFacts({ usedBy, untilMs }: QuarantinedAddress, nowMs: number): HTMLElement {
  return facts([
    ['Used by', element('code', {}, usedBy === '' ? 'not known' : usedBy)],
    ['Until', timeElement(untilMs, nowMs)],
  ]);
}
