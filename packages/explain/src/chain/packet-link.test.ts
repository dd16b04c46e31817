import { describe, expect, it } from 'vitest';
import { ADDRESS, config, instance, lease, MAC, OTHER_MAC, observe, type Parts, packets, pool } from './chain-fixtures.js';
import type { ObservedTraffic } from './chain-observation.js';
import { explainAddress } from './explain-address.js';

const SILENT = instance({ infoSource: 'guest-agent' });
const UNKNOWN = instance({});
const linkOf = (parts: Parts) => {
  const [one] = explainAddress(observe(parts)).interfaces;
  const link = one?.links.find((each) => each.link === 'packets');
  return {
    state: link?.state,
    facts: link?.facts,
    reasons: link?.findings.map(({ reason }) => reason),
    brokenAt: one?.brokenAt,
    link,
  };
};

describe('what the leader saw of a client', () => {
  it.each([
    ['an ACK', ['DISCOVER OFFER', 'REQUEST ACK'], 'ok', []],
    ['an ACK that the machine does not use', ['REQUEST ACK'], 'broken', ['AcknowledgedNotUsed'], SILENT],
    ['nothing, and the machine has no address', [], 'broken', ['NoPacketFromClient'], SILENT],
    ['nothing, and no guest agent tells', [], 'note', ['NoPacketFromClient']],
    ['one OFFER: the REQUEST follows', ['DISCOVER OFFER'], 'ok', []],
    ['OFFERs without a REQUEST', ['DISCOVER OFFER', 'DISCOVER OFFER'], 'broken', ['OfferNotAccepted']],
    ['OFFERs after an ACK of earlier', ['REQUEST ACK', 'DISCOVER OFFER', 'DISCOVER OFFER'], 'note', ['OfferNotAccepted']],
    [
      'the same, and the machine has no address',
      ['REQUEST ACK', 'DISCOVER OFFER', 'DISCOVER OFFER'],
      'broken',
      ['OfferNotAccepted'],
      SILENT,
    ],
    ['a REQUEST to another server', ['DISCOVER OFFER', 'REQUEST !other-server-selected'], 'broken', ['OtherServerSelected']],
    ['a DISCOVER without an answer', ['DISCOVER !unknown-client'], 'broken', ['PacketNotAnswered']],
    ['a DISCOVER that is answered soon', ['DISCOVER !address-being-probed'], 'waiting', ['PacketNotAnswered']],
    ['a NAK', ['REQUEST NAK'], 'waiting', ['RequestRefused']],
    ['a NAK again and again', ['REQUEST NAK', 'DISCOVER OFFER', 'REQUEST NAK'], 'broken', ['RequestRefused']],
    ['a DECLINE', ['REQUEST ACK', 'DECLINE'], 'note', ['ClientDeclinedAddress']],
    ['a RELEASE', ['REQUEST ACK', 'RELEASE'], 'ok', []],
    ['an INFORM without an answer', ['INFORM !client-not-on-this-network'], 'ok', []],
  ])('%s: %j is %s %j', (_title, texts, state, reasons, running = UNKNOWN) => {
    expect(linkOf({ instance: running, traffic: packets(...texts) })).toMatchObject({ state, reasons });
  });

  it('is described with counts, the age of the last packet and its answer', () => {
    const { facts, link } = linkOf({ instance: UNKNOWN, traffic: packets('DISCOVER OFFER', 'DISCOVER OFFER', 'REQUEST ACK') });
    expect(facts).toBe(`DISCOVER 2 times, REQUEST once; the last 12 seconds ago: REQUEST got ACK ${ADDRESS}`);
    expect(link?.object).toBe('Pod vm-dhcp-agents/agent-1');
    expect(linkOf({ traffic: packets() }).facts).toBe(`got no packet from ${MAC}; it counts since 5 minutes ago`);
    const [offer] = linkOf({ traffic: packets('DISCOVER OFFER', 'DISCOVER OFFER') }).link?.findings ?? [];
    expect(offer?.message).toContain(`the last 2 DISCOVERs got OFFER ${ADDRESS} each, and no REQUEST followed`);
  });

  it('is ignored after a long time if the machine has no address, and is fine otherwise', () => {
    const seen = packets('REQUEST ACK') as Extract<ObservedTraffic, { kind: 'found' }>;
    const clients = seen.traffic.clients.map((client) => ({ ...client, lastAtMs: client.lastAtMs - 7_200_000 }));
    const traffic = { ...seen, traffic: { ...seen.traffic, clients } };
    expect(linkOf({ instance: SILENT, traffic })).toMatchObject({
      state: 'broken',
      reasons: ['NoPacketFromClient'],
      brokenAt: 'packets',
    });
    expect(linkOf({ instance: UNKNOWN, traffic })).toMatchObject({ state: 'ok', reasons: [] });
  });

  it('is empty for another client', () => {
    const seen = packets('REQUEST ACK') as Extract<ObservedTraffic, { kind: 'found' }>;
    const clients = seen.traffic.clients.map((client) => ({ ...client, macAddress: OTHER_MAC }));
    expect(linkOf({ traffic: { ...seen, traffic: { ...seen.traffic, clients } } })).toMatchObject({
      reasons: ['NoPacketFromClient'],
    });
  });

  it('may be forbidden to ask: the missing right is named, and the rest is unchanged', () => {
    const rights = [{ verb: 'create', group: '', resource: 'pods/exec', namespace: 'vm-dhcp-agents' }] as const;
    const refused = { kind: 'refused', pod: 'vm-dhcp-agents/agent-1', rights } as const;
    const chain = explainAddress(observe({ instance: UNKNOWN, traffic: refused }));
    expect(chain.missingRights).toEqual(rights);
    expect(chain.interfaces).toMatchObject([{ address: ADDRESS, state: 'unknown' }]);
    expect(linkOf({ traffic: refused })).toMatchObject({ state: 'unknown', facts: 'cannot be asked', reasons: [] });
  });

  it('may be unavailable: the link says why', () => {
    const failed = { kind: 'failed', pod: 'a/b', message: 'pod a/b no longer exists; try again' } as const;
    expect(linkOf({ traffic: failed })).toMatchObject({ state: 'unknown', facts: failed.message });
  });
});

describe('which leaders are asked', () => {
  const asked = (parts: Parts) => explainAddress(observe(parts)).furtherPackets;
  const subject = { interface: 'default', macAddress: MAC, pool: 'default/pool', namespace: 'vm-dhcp-agents', pod: 'agent-1' };

  it('the leader of a pool without a broken link before it', () => {
    expect(asked({})).toEqual([{ ...subject, isConfirmed: true }]);
    expect(asked({ instance: UNKNOWN })).toEqual([{ ...subject, isConfirmed: false }]);
    expect(asked({ instance: SILENT })).toEqual([{ ...subject, isConfirmed: false }]);
  });

  it.each<[string, Parts]>([
    ['the virtual machine does not run', { instance: undefined }],
    ['there is no pool', { pool: undefined }],
    ['no address is recorded', { pool: pool({ allocated: {} }) }],
    ['the VirtualMachineNetworkConfig is paused', { config: config({ spec: { paused: true } }) }],
    ['no pod is leader', { lease: lease({ serving: true }, '2026-01-01T00:00:00Z') }],
    ['there is no Lease', { lease: undefined }],
    ['the leader does not serve the pool', { lease: lease({ serving: false, reason: 'SocketFailed' }) }],
  ])('no leader, if %s', (_title, parts) => expect(asked({ instance: SILENT, ...parts })).toEqual([]));
});
