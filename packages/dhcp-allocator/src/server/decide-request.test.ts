import { describe, expect, it } from 'vitest';
import { type Ipv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { validatePool } from '../pool/validate-pool.js';
import type { ClientMessage } from './client-message.js';
import { decideRequest } from './decide-request.js';

const ip = (text: string): Ipv4Address => parseIpv4Address(text) as Ipv4Address;
const MAC = '02:00:00:00:00:0a';
const US = ip('10.0.0.1');
const OTHER = ip('10.0.0.2');
const OWN = ip('10.0.0.10');
const WRONG = ip('10.0.0.11');

function decided(client: Partial<ClientMessage>, { hasLease = true, authoritative = false } = {}): string {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', authoritative });
  if (!checked.ok) throw new Error('no pool');
  const known = {
    pool: checked.value,
    ...(hasLease && { lease: { poolName: 'net', macAddress: MAC, address: OWN } }),
  };
  const decision = decideRequest({ type: 'request', macAddress: MAC, ...client } as ClientMessage, known);
  return 'reason' in decision ? `${decision.kind} ${decision.reason}` : decision.kind;
}

describe('decideRequest (RFC 2131 §4.3.2)', () => {
  it.each<[state: string, client: Partial<ClientMessage>, decision: string]>([
    ['SELECTING: the address that was offered', { serverIdentifier: US, requestedAddress: OWN }, 'ack'],
    ['SELECTING: another address', { serverIdentifier: US, requestedAddress: WRONG }, 'nak address-not-its-own'],
    ['SELECTING: no address', { serverIdentifier: US }, 'ignore address-missing'],
    ['SELECTING: another server', { serverIdentifier: OTHER, requestedAddress: OWN }, 'ignore other-server-selected'],
    ['INIT-REBOOT: its address', { requestedAddress: OWN }, 'ack'],
    ['INIT-REBOOT: another address', { requestedAddress: WRONG }, 'nak address-not-its-own'],
    ['RENEWING: its address', { clientAddress: OWN }, 'ack'],
    ['RENEWING: another address', { clientAddress: WRONG }, 'nak address-not-its-own'],
    ['RENEWING: option 50 does not count', { clientAddress: OWN, requestedAddress: WRONG }, 'ack'],
    ['no address at all', {}, 'ignore address-missing'],
  ])('a client with a lease, %s', (_state, client, decision) => {
    expect(decided(client)).toBe(decision);
  });

  it.each<[what: string, client: Partial<ClientMessage>, authoritative: boolean, decision: string]>([
    ['that selects this server', { serverIdentifier: US, requestedAddress: OWN }, false, 'nak reservation-gone'],
    [
      'that selects this server, of an authoritative pool',
      { serverIdentifier: US, requestedAddress: OWN },
      true,
      'nak reservation-gone',
    ],
    ['that selects another server', { serverIdentifier: OTHER, requestedAddress: OWN }, true, 'ignore other-server-selected'],
    ['INIT-REBOOT', { requestedAddress: OWN }, false, 'ignore unknown-client'],
    ['INIT-REBOOT, of an authoritative pool', { requestedAddress: OWN }, true, 'nak not-authorized-here'],
    ['RENEWING, of an authoritative pool', { clientAddress: OWN }, true, 'nak not-authorized-here'],
  ])('a client without a lease, %s', (_what, client, authoritative, decision) => {
    expect(decided(client, { hasLease: false, authoritative })).toBe(decision);
  });
});
