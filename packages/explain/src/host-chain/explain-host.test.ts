/** Tries every reason of bare-metal hosts that concerns an address or a management controller, in the situation that causes it. */
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClientSubject } from '../chain/client-records.js';
import { explainHost } from './explain-host.js';
import { findHosts, hostSelector } from './find-hosts.js';
import type { HostChain } from './host-chain.js';
import { HOST_LINKS } from './host-links.js';
import { HOST_REASON_LINKS, type HostChainReason } from './host-reason-links.js';

const NOW = '2026-01-01T00:01:00Z';
const ADDRESS = '192.168.0.11';
const MAC = '02:00:5e:00:60:11';

type Fields = Readonly<Record<string, unknown>>;
interface Parts {
  readonly subject?: string;
  readonly clusterAgent?: KubernetesObject | undefined;
  readonly host?: KubernetesObject | undefined;
  readonly endpoint?: KubernetesObject | undefined;
  readonly lease?: KubernetesObject | undefined;
  readonly events?: readonly KubernetesObject[];
}

const object = (name: string, fields: Fields, annotations: Readonly<Record<string, string>> = {}): KubernetesObject => ({
  metadata: { name, annotations },
  ...fields,
});

function clusterAgent(conditions: readonly Fields[] = [{ type: 'Ready', status: 'True', reason: 'HostAgentsReady' }]) {
  const dhcpServerConfig = {
    subnet: '192.168.0.0/24',
    ipRange: '192.168.0.10-192.168.0.100',
    gateway: '192.168.0.1',
    selfIp: '192.168.0.2/24',
  };
  const status = { conditions, addresses: { total: 91, used: 1, available: 90 } };
  return object('rack-1', { spec: { feature: { dhcpServerConfig } }, status });
}

function host(fields: Fields = {}, status: Fields = {}, annotations: Readonly<Record<string, string>> = {}): KubernetesObject {
  const basic = { type: 'dhcp', ipAddr: ADDRESS, mac: MAC, activeDhcpClient: true, https: true, port: 443, ...fields };
  return object('rack-1-192-168-0-11', { status: { clusterAgent: 'rack-1', healthy: true, basic, ...status } }, annotations);
}

const endpoint = (ipAddr: string, spec: Fields = {}) => object('switch-1', { spec: { clusterAgent: 'rack-1', ipAddr, ...spec } });
const lease = (renewTime = NOW) =>
  object('agent-rack-1', { spec: { holderIdentity: 'agent-rack-1-7f-x_1', leaseDurationSeconds: 15, renewTime } });
const event = (kind: string, name: string, reason: string): KubernetesObject =>
  object('e', { involvedObject: { kind, name }, reason, message: `the message of ${reason}`, lastTimestamp: NOW });
const ofHost = (reason: string) => [event('HostStatus', 'rack-1-192-168-0-11', reason)];
const ofEndpoint = (reason: string) => [event('HostEndpoint', 'switch-1', reason)];
const condition = (type: string, status: string, reason: string) =>
  clusterAgent([{ type, status, reason, message: `the message of ${reason}` }]);

function toSubject(text: string): ClientSubject {
  const [address, macAddress] = [parseIpv4Address(text), parseMacAddress(text)];
  if (address !== undefined) return { kind: 'address', address };
  if (macAddress === undefined) throw new Error(text);
  return { kind: 'mac-address', macAddress };
}

/** Everything that is not given has its normal value. */
function explain(parts: Parts = {}): HostChain {
  const whole = { clusterAgent: clusterAgent(), host: host(), endpoint: undefined, lease: lease(), events: [], ...parts };
  const some = (one: KubernetesObject | undefined) => (one === undefined ? [] : [one]);
  const objects = {
    hostStatuses: some(whole.host),
    hostEndpoints: some(whole.endpoint),
    clusterAgents: some(whole.clusterAgent),
  };
  const [found] = findHosts(objects, toSubject(whole.subject ?? ADDRESS));
  if (found === undefined) throw new Error('there is no host');
  const ofLease = whole.lease === undefined ? ({ kind: 'missing' } as const) : ({ kind: 'found', object: whole.lease } as const);
  return explainHost({ ...found, lease: ofLease, events: whole.events, nowMs: Date.parse(NOW) });
}

const ONLY_ENDPOINT = { host: undefined, subject: '192.168.0.50' } as const;

/** A reason that is missing here does not compile. */
const SITUATIONS: Readonly<Record<HostChainReason, Parts>> = {
  ClusterAgentMissing: { clusterAgent: undefined },
  ClusterAgentInvalid: { clusterAgent: condition('Valid', 'False', 'ClusterAgentInvalid') },
  UnderlayShared: { clusterAgent: condition('Valid', 'False', 'UnderlayShared') },
  SelfIpInUse: { clusterAgent: condition('SelfIpInUse', 'True', 'SelfIpInUse') },
  OneAgentOnly: { clusterAgent: condition('Valid', 'False', 'OneAgentOnly') },
  OtherServerAnswers: { clusterAgent: condition('RogueServer', 'True', 'OtherServerAnswers') },
  AddressesExhausted: { clusterAgent: condition('AddressesExhausted', 'True', 'AddressesExhausted') },
  HostAgentCannotServe: { clusterAgent: condition('CannotServe', 'True', 'HostAgentCannotServe') },
  HostAgentsStarting: { clusterAgent: condition('Ready', 'False', 'HostAgentsStarting') },
  HostAgentsOff: { clusterAgent: condition('Ready', 'False', 'HostAgentsOff') },
  HostAgentsStuck: { clusterAgent: condition('Ready', 'False', 'HostAgentsStuck') },
  HostAgentsFailed: { clusterAgent: condition('Ready', 'False', 'HostAgentsFailed') },
  HostAgentsRefused: { clusterAgent: condition('Ready', 'False', 'HostAgentsRefused') },
  HostAgentsNotLeading: { lease: lease('2026-01-01T00:00:00Z') },
  HostEndpointInvalid: { ...ONLY_ENDPOINT, endpoint: endpoint('192.168.0.1'), subject: '192.168.0.1' },
  HostEndpointAddressTaken: {
    ...ONLY_ENDPOINT,
    endpoint: endpoint('192.168.0.50'),
    events: ofEndpoint('HostEndpointAddressTaken'),
  },
  HostStatusPending: { ...ONLY_ENDPOINT, endpoint: endpoint('192.168.0.50') },
  HostStatusNameTaken: { ...ONLY_ENDPOINT, endpoint: endpoint('192.168.0.50'), events: ofEndpoint('HostStatusNameTaken') },
  LeaseEnded: { host: host({ activeDhcpClient: false }) },
  LeaseKept: { events: ofHost('LeaseKept') },
  HostAddressFree: { host: undefined },
  BoundAddressInUse: { events: ofHost('BoundAddressInUse') },
  BoundElsewhere: { events: ofHost('BoundElsewhere') },
  MacAddressChanged: { events: ofHost('MacAddressChanged') },
  BindingUnreadable: { host: host({}, {}, { 'bmc.spidernet.io/bound-to': 'web' }) },
  HostSecretUnusable: { ...ONLY_ENDPOINT, endpoint: endpoint('192.168.0.50'), events: ofEndpoint('HostSecretUnusable') },
  HostUnhealthy: { host: host({}, { healthy: false }), events: ofHost('HostUnhealthy') },
};

describe('each reason, in the situation that causes it', () => {
  it.each(Object.entries(SITUATIONS))('%s', (reason, parts) => {
    const { links } = explain(parts);
    const { link, gravity } = HOST_REASON_LINKS[reason as HostChainReason];
    const found = links.find((one) => one.link === link)?.findings.find((one) => one.reason === reason);
    expect(found, JSON.stringify(links)).toMatchObject({
      state: gravity,
      remedy: HOST_REASONS[reason as HostChainReason].remedy,
    });
  });
});

describe('a host', () => {
  it('has no findings while it has its address and answers, whether found by its address or its MAC address', () => {
    for (const subject of [ADDRESS, MAC.toUpperCase()]) {
      const chain = explain({ subject });
      expect(chain).toMatchObject({
        host: 'rack-1-192-168-0-11',
        address: ADDRESS,
        macAddress: MAC,
        hasAddress: true,
        state: 'ok',
      });
      expect(chain.links.map(({ link }) => link)).toEqual(HOST_LINKS.filter((link) => link !== 'host-endpoint'));
      expect(chain.links[0]?.facts).toBe('192.168.0.0/24, 192.168.0.10 to 192.168.0.100: 90 free');
    }
  });

  it('with a HostEndpoint: an earlier Event is out of date once there is a HostStatus', () => {
    const owned = host({ type: 'hostEndpoint', ipAddr: '192.168.0.50', activeDhcpClient: undefined });
    const events = ofEndpoint('HostEndpointAddressTaken');
    const chain = explain({ host: owned, endpoint: endpoint('192.168.0.50'), subject: '192.168.0.50', events });
    expect(chain).toMatchObject({ hasAddress: true, state: 'ok' });
    expect(chain.links.map(({ link }) => link)).toEqual(HOST_LINKS);
    expect(chain.links.filter(({ state }) => state !== 'ok')).toMatchObject([{ link: 'lease', state: 'absent' }]);
  });

  it('whose address a second HostEndpoint names is fine, and the second HostEndpoint has the reason', () => {
    const withUid = (name: string, month: string) => ({
      ...endpoint('192.168.0.50'),
      metadata: { name, uid: name, creationTimestamp: `2026-${month}-01T00:00:00Z` },
    });
    const owner = { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', name: 'first', uid: 'first' };
    const owned = host({ type: 'hostEndpoint', ipAddr: '192.168.0.50', activeDhcpClient: undefined });
    const hostStatus = { ...owned, metadata: { ...owned.metadata, ownerReferences: [owner] } };
    const [first, second] = [withUid('first', '02'), withUid('second', '01')];
    const objects = { hostStatuses: [hostStatus], hostEndpoints: [second, first], clusterAgents: [clusterAgent()] };
    const events = [event('HostEndpoint', 'second', 'HostEndpointAddressTaken')];
    const chains = findHosts(objects, toSubject('192.168.0.50')).map((found) =>
      explainHost({ ...found, lease: { kind: 'found', object: lease() }, events, nowMs: Date.parse(NOW) }),
    );
    expect(chains).toMatchObject([{ state: 'ok' }, { state: 'broken', brokenAt: 'host-endpoint' }]);
  });

  it('is fine while its management controller has not been queried yet', () => {
    const chain = explain({ host: host({}, { healthy: undefined }) });
    expect(chain).toMatchObject({ hasAddress: true, state: 'unknown' });
    expect(chain).not.toHaveProperty('brokenAt');
  });

  it('has as the cause the last Event that says it is not healthy', () => {
    const { links, brokenAt } = explain({ host: host({}, { healthy: false }), events: ofHost('HostUnhealthy') });
    expect(brokenAt).toBe('management-controller');
    expect(links.at(-1)?.findings[0]?.message).toBe('the message of HostUnhealthy');
  });
});

it('finds HostStatuses of an address by their label, those of a MAC address among all', () => {
  expect(hostSelector(toSubject(ADDRESS))).toBe('bmc.spidernet.io/ipAddr=192.168.0.11');
  expect(hostSelector(toSubject(MAC))).toBeUndefined();
});

describe('an address that no host has', () => {
  it.each([
    ['192.168.0.40', 'no client has a lease of 192.168.0.40'],
    ['192.168.0.200', '192.168.0.200 is in the subnet, and outside of the range that is leased'],
  ])('%s: %s', (subject, facts) => {
    const chain = explain({ host: undefined, subject });
    expect(chain).toMatchObject({ hasAddress: false, host: undefined });
    expect(chain.links.find(({ link }) => link === 'lease')?.facts).toBe(facts);
  });

  it.each([
    ['192.168.0.2', 'selfIp, the address of its agents'],
    ['192.168.0.1', 'the gateway'],
  ])('%s is %s', (subject, role) => {
    expect(explain({ host: undefined, subject }).links[0]?.facts).toContain(`${subject} is ${role}`);
  });

  it('and no management network contains: nothing is known', () => {
    const objects = { hostStatuses: [host()], hostEndpoints: [], clusterAgents: [clusterAgent()] };
    expect(findHosts(objects, toSubject('10.9.9.9'))).toEqual([]);
    expect(findHosts(objects, toSubject('02:00:00:00:00:99'))).toEqual([]);
  });
});

it('law: whatever the objects contain, it does not throw', () => {
  const any = fc.anything({ maxDepth: 4 });
  fc.assert(
    fc.property(any, any, any, (spec, status, basic) => {
      const wild = { metadata: { name: 'x' }, spec, status: { ...(status as object), basic } } as unknown as KubernetesObject;
      const objects = { hostStatuses: [wild, host()], hostEndpoints: [wild], clusterAgents: [wild] };
      for (const found of findHosts(objects, toSubject(ADDRESS)))
        explainHost({
          ...found,
          clusterAgent: wild,
          hostEndpoint: wild,
          lease: { kind: 'found', object: wild },
          events: [wild],
          nowMs: 0,
        });
    }),
  );
});
