import type { AddressState, PageState } from '../../model/page-data.js';

/** The name of each state of an address in legends and tables, and its meaning. */
export const ADDRESS_STATE_WORDS: Readonly<Record<AddressState, { readonly name: string; readonly meaning: string }>> = {
  free: { name: 'Free', meaning: 'may be assigned to the next client' },
  used: { name: 'Used', meaning: 'recorded for a client' },
  reserved: { name: 'Reserved', meaning: 'kept for one client that does not have it now' },
  excluded: { name: 'Excluded', meaning: 'the pool excludes it' },
  quarantined: { name: 'Quarantined', meaning: 'an unknown host uses it, so no client gets it for a time' },
  server: { name: 'DHCP server', meaning: 'the address of the DHCP server' },
  router: { name: 'Router', meaning: 'the address of the router that the pool names; no client gets it' },
  outside: { name: 'Outside the range', meaning: 'in the subnet, but not between start and end' },
};

/** The name of each state of an object, and its sign, so that colour is never the only hint. */
export const PAGE_STATE_WORDS: Readonly<Record<PageState, { readonly name: string; readonly sign: string }>> = {
  ok: { name: 'OK', sign: '✓' },
  note: { name: 'Note', sign: 'i' },
  waiting: { name: 'Waiting', sign: '…' },
  broken: { name: 'Needs action', sign: '!' },
};
