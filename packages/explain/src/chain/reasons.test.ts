/** Tries every reason of the product in every place that shows it: `why` finds it there, with its remedy and its link. */
import { REASONS } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { config, findingsOf, lease, observe, type Parts, pendingConfig, pool } from './chain-fixtures.js';
import { CHAIN_LINKS } from './chain-links.js';
import { explainAddress } from './explain-address.js';
import { type ChainReason, REASON_LINKS } from './reasons.js';

const CONDITION = /^(IPPool|VirtualMachineNetworkConfig) (\w+)=(True|False)$/;

/** They stay in plans, and never appear in a condition. */
const IN_PLANS_ONLY = ['ClaimMissing', 'ClientHasAnotherAddress', 'NotServed'];
const SHOWN = Object.entries(REASONS).filter(([reason]) => !IN_PLANS_ONLY.includes(reason));

/** Each condition and report of the table. */
const PLACES = SHOWN.flatMap(([reason, { shown }]) =>
  shown
    .filter((place) => CONDITION.test(place) || place === 'agent report')
    .map((place) => [reason as ChainReason, place] as const),
);

/** The situation in which the controller or the leader of the agents wrote the reason there. */
function situation(reason: string, place: string): Parts {
  const message = `the message of ${reason}`;
  const [, kind = '', type = '', status = ''] = CONDITION.exec(place) ?? [];
  const condition = { type, status, reason, message };
  if (kind === 'IPPool') {
    const isServed = status === 'True';
    // A report of the leader is newer than a condition.
    return {
      pool: pool({ conditions: [condition] }),
      ...(!isServed && !['Lagging', 'NetworkSilent'].includes(reason) && { lease: undefined }),
    };
  }
  if (kind === '') return { lease: lease({ serving: false, reason, message }) };
  if (status === 'True')
    return { config: config({ conditions: [condition] }), ...(reason === 'VirtualMachineMissing' && { machine: undefined }) };
  const nowhere = { pool: pool({ allocated: {} }), config: pendingConfig(condition) };
  return reason === 'NoPool' ? { ...nowhere, pool: undefined } : nowhere;
}

/** The entry itself says it, not the condition; another network is shown by the network itself. */
const FOUND_OTHERWISE: Readonly<Record<string, Parts>> = {
  'MacAddressUnreadable VirtualMachineNetworkConfig Allocated=False': broken({ networkName: 'default/net', macAddress: 'x' }),
  'AddressUnreadable VirtualMachineNetworkConfig Allocated=False': broken({
    networkName: 'default/net',
    macAddress: '02:00:00:00:00:0a',
    ipAddress: '10.1',
  }),
  'NetworkNameMissing VirtualMachineNetworkConfig Allocated=False': broken({ macAddress: '02:00:00:00:00:0a' }),
  'ExternalDHCP VirtualMachineNetworkConfig Allocated=True': {
    pool: undefined,
    network: {
      metadata: { namespace: 'default', name: 'net', annotations: { 'network.harvesterhci.io/external-dhcp': 'true' } },
    },
  },
};

/** A VirtualMachineNetworkConfig that a person wrote, without a virtual machine. */
function broken(entry: object): Parts {
  return { machine: undefined, instance: undefined, config: config({ entries: [entry], status: [] }) };
}

describe('every reason of a condition and of a report', () => {
  it.each(PLACES)('%s is shown as %s', (reason, place) => {
    const chain = explainAddress(observe(FOUND_OTHERWISE[`${reason} ${place}`] ?? situation(reason, place)));
    const found = findingsOf(chain).find((one) => one.reason === reason);
    expect(found, JSON.stringify(findingsOf(chain))).toMatchObject({
      link: REASON_LINKS[reason].link,
      remedy: REASONS[reason].remedy,
    });
    const isTrouble = place.endsWith('=False') || place === 'agent report';
    const isNote = reason === 'NetworkConfigChanged' || place.startsWith('IPPool RouterReady');
    if (isTrouble && !isNote) expect(['broken', 'waiting']).toContain(found?.state);
    else expect(found?.state).toBe('note');
  });
});

it('a reason has one link, and a link that exists', () => {
  for (const { link } of Object.values(REASON_LINKS)) expect(CHAIN_LINKS).toContain(link);
});

it('every reason of the table that concerns an address is in the list of this file', () => {
  const places = ['IPPool', 'VirtualMachine', 'VirtualMachineNetworkConfig'].map((kind) => new RegExp(`(^|on )${kind}( |$)`));
  const concerning = SHOWN.filter(([reason, { shown }]) => {
    const isOnTheWay = shown.some((place) => places.some((one) => one.test(place)) || !/ (Event )?on |=/.test(place));
    return isOnTheWay && !reason.startsWith('WakeUp');
  });
  const known = new Set(Object.keys(REASON_LINKS));
  expect(concerning.map(([reason]) => reason).filter((reason) => !known.has(reason))).toEqual([]);
});
