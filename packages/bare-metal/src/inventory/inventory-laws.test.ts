import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { isLabelValue, isObjectName } from '../host/host-name.js';
import { owningEndpoint, readHost } from '../host/read-host.js';
import { agentObject, type Effect, endpointObject, factsOf, lease, NOW_MS, StoredHosts } from './inventory-fixtures.js';
import type { HostLease, InventoryFacts } from './inventory-plan.js';
import { planHostInventory } from './plan-host-inventory.js';

const hosts = fc.integer({ min: 10, max: 13 });
const anyLease = fc.tuple(hosts, fc.integer({ min: 1, max: 4 })).map(([last, client]) => lease(last, client));
const leases = fc.uniqueArray(anyLease, { selector: ({ ipAddress }) => ipAddress, maxLength: 4 });
const endpointAddress = fc.constantFrom('10.0.0.10', '10.0.0.11', '10.0.0.12', '2001:db8::1', '999.1.1.1', '');
const anyEndpoint = fc
  .record({
    name: fc.constantFrom('e1', 'e2', 'e3'),
    address: endpointAddress,
    agent: fc.constantFrom('agent', 'other', 'lost', undefined),
  })
  .map(({ name: own, address, agent: of }) => {
    const one = endpointObject(own, address, { clusterAgent: of });
    // Its specification cannot change: another one is another object.
    return of === 'agent' && address === '10.0.0.10'
      ? one
      : { ...one, metadata: { ...one.metadata, uid: `${own}-${of}-${address}` } };
  });
const endpoints = fc.uniqueArray(anyEndpoint, { selector: ({ metadata }) => metadata.name, maxLength: 3 });
const agent = fc
  .record({ enableBindDhcpIP: fc.boolean(), enableBindStaticIP: fc.boolean(), enableDhcpDiscovery: fc.boolean() })
  .map((switches) => readClusterAgent(agentObject(switches)));

/** Anything that may be stored. */
const junk = fc.oneof(
  fc.constantFrom('', 'agent', 'other', 'dhcp', 'hostEndpoint', '10.0.0.10', '02:00:00:00:00:01', 'none', 0, true, null),
  fc.jsonValue({ maxDepth: 1 }),
);
const name = fc.constantFrom(
  'agent-10-0-0-10',
  'agent-10-0-0-11',
  'agent-2001-db8--1',
  'other-10-0-0-10',
  'agent-7-10-0-0-10',
  'e1',
  'odd',
);
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const owners = fc.subarray([
  {
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'HostEndpoint',
    name: 'e1',
    uid: 'uid-e1',
    controller: true,
    blockOwnerDeletion: true,
  },
  { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', name: 'gone', uid: 'gone' },
  { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n', controller: true },
]);
const anyObject = fc
  .record({
    name,
    labels: maybe(
      fc.dictionary(
        fc.constantFrom('bmc.spidernet.io/mode', 'bmc.spidernet.io/ipAddr', 'x'),
        fc.constantFrom('dhcp', 'hostEndpoint', 'y'),
      ),
    ),
    bound: maybe(fc.constantFrom('none', 'odd', '02:00:00:00:00:01')),
    ownerReferences: maybe(owners),
    status: maybe(
      fc.oneof(
        junk,
        fc.dictionary(
          fc.constantFrom('healthy', 'healthReady', 'clusterAgent', 'basic', 'info'),
          fc.oneof(junk, fc.dictionary(fc.constantFrom('type', 'ipAddr', 'mac', 'port', 'activeDhcpClient', 'secretName'), junk)),
        ),
      ),
    ),
  })
  .map(({ name: own, labels, bound, ownerReferences, status }): KubernetesObject => {
    const annotations = bound === undefined ? undefined : { 'bmc.spidernet.io/bound-to': bound };
    return {
      metadata: {
        name: own,
        uid: `uid-of-${own}`,
        resourceVersion: '1',
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ...(ownerReferences && { ownerReferences }),
      },
      status,
    };
  });
const objects = fc.uniqueArray(anyObject, { selector: ({ metadata }) => metadata.name, maxLength: 6 });
const NEVER_OURS = ['other-10-0-0-10', 'agent-7-10-0-0-10', 'odd', 'e1'];
const anyFacts = fc
  .record({ clusterAgent: agent, leases: maybe(leases), endpoints, hostStatuses: objects })
  .map((facts): InventoryFacts => factsOf(facts));

describe('laws of the inventory', () => {
  it('after a plan is applied, nothing is left to do, whatever was stored', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const stored = new StoredHosts(facts.hostStatuses);
        const { actions } = planHostInventory(facts);
        // Within one plan, the version of an object changes at most once before a write that names it.
        for (const action of actions) stored.apply(action);
        expect(planHostInventory({ ...facts, hostStatuses: stored.all, nowMs: NOW_MS + 5_000 }).actions).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('the order of leases, HostEndpoints and objects makes no difference', () => {
    const shuffled = anyFacts.chain((facts) =>
      fc.record({
        facts: fc.constant(facts),
        leases: facts.leases === undefined ? fc.constant(undefined) : permutation(facts.leases),
        endpoints: permutation(facts.endpoints),
        hostStatuses: permutation(facts.hostStatuses),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ facts, ...lists }) => {
        const [one, other] = [planHostInventory(facts), planHostInventory({ ...facts, ...lists })];
        expect(other.actions).toEqual(one.actions);
        expect(other.problems.map(toText).toSorted()).toEqual(one.problems.map(toText).toSorted());
      }),
      { numRuns: 200 },
    );
  });

  it('no object of another ClusterAgent is touched, and the API server accepts every name and label', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const touched = new Set(planHostInventory(facts).actions.map((action) => action.name));
        const others = facts.hostStatuses.filter(
          ({ metadata }) => NEVER_OURS.includes(metadata.name) && owningEndpoint({ metadata }) === undefined,
        );
        for (const { metadata } of others) expect(touched).not.toContain(metadata.name);
        for (const action of planHostInventory(facts).actions) {
          expect(isObjectName(action.name)).toBe(true);
          if (action.kind === 'create')
            for (const value of Object.values(action.object.metadata.labels)) expect(isLabelValue(value)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

type Step =
  | { readonly kind: 'leases'; readonly leases: readonly HostLease[] }
  | { readonly kind: 'endpoints'; readonly endpoints: readonly KubernetesObject[] }
  | { readonly kind: 'edit'; readonly name: string; readonly edit: Record<string, unknown> }
  /** Applies a plan, some of whose writes get lost; what was seen may be older than what exists. */
  | { readonly kind: 'plan'; readonly effects: readonly Effect[]; readonly isStale: boolean };

const edit = fc.constantFrom<Record<string, unknown>[]>(
  { metadata: { labels: null } },
  { metadata: { labels: { 'bmc.spidernet.io/mode': 'hostEndpoint' } } },
  { status: null },
  { status: { clusterAgent: 'other' } },
  { status: { basic: { type: 'hostEndpoint', ipAddr: '1.1.1.1', activeDhcpClient: null } } },
  { status: { basic: { mac: '02:99:99:99:99:99' } } },
  { metadata: { annotations: { 'bmc.spidernet.io/bound-to': 'none' } } },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  leases.map((all): Step => ({ kind: 'leases', leases: all })),
  endpoints.map((all): Step => ({ kind: 'endpoints', endpoints: all })),
  fc.record({ kind: fc.constant('edit' as const), name: fc.constantFrom('agent-10-0-0-10', 'agent-10-0-0-11'), edit }),
  fc.record({
    kind: fc.constant('plan' as const),
    effects: fc.array(fc.constantFrom<Effect[]>('all', 'nothing', 'first-write'), { minLength: 1, maxLength: 6 }),
    isStale: fc.boolean(),
  }),
);

describe('stories', () => {
  it('law: after any order of leases, HostEndpoints, edits, lost writes and restarts, the objects match the leases and HostEndpoints', () => {
    fc.assert(
      fc.property(agent, fc.array(step, { maxLength: 25, size: 'max' }), (clusterAgent, steps) => {
        const stored = new StoredHosts();
        let facts = factsOf({ clusterAgent: { ...clusterAgent, enableDhcpDiscovery: true } });
        let before = stored.all;
        for (const one of steps) {
          if (one.kind === 'edit') stored.edit(one.name, one.edit);
          else if (one.kind === 'plan') {
            const seen = one.isStale ? before : stored.all;
            before = stored.all;
            const { actions } = planHostInventory({ ...facts, hostStatuses: seen });
            for (const [index, action] of actions.entries()) stored.apply(action, one.effects[index % one.effects.length]);
          } else facts = { ...facts, ...one };
        }
        stored.settle(facts);
        stored.collectGarbage(facts.endpoints);
        expectRight(stored, facts);
      }),
      { numRuns: 300 },
    );
  });
});

/** Each lease and each HostEndpoint has exactly its object; all others are bound addresses without a client. */
function expectRight(stored: StoredHosts, facts: InventoryFacts): void {
  const named = facts.endpoints.filter(
    ({ spec }) => readField(spec, 'clusterAgent') === 'agent' && /^(10|2001)/.test(String(readField(spec, 'ipAddr'))),
  );
  const ofEndpoints = new Set(named.map(({ spec }) => String(readField(spec, 'ipAddr'))));
  const seen = new Set<string>();
  for (const object of stored.all) {
    const host = readHost(object);
    seen.add(host.address ?? '');
    expect(host.clusterAgent).toBe('agent');
    expect(object.metadata.name).toBe(`agent-${host.address?.replaceAll(/[.:]/g, '-')}`);
    expect(object.metadata.labels?.['bmc.spidernet.io/mode']).toBe(host.mode);
    expect(host.mode).toBe(ofEndpoints.has(host.address ?? '') ? 'hostEndpoint' : 'dhcp');
    if (host.mode === 'hostEndpoint') continue;
    const client = facts.leases?.find(({ ipAddress }) => ipAddress === host.address);
    expect([host.isActive, object.metadata.labels?.['bmc.spidernet.io/dhcp-ip-active']]).toEqual([
      client !== undefined,
      String(client !== undefined),
    ]);
    if (client === undefined) expect(facts.clusterAgent.enableBindDhcpIP).toBe(true);
    else expect(host.macAddress).toBe(client.macAddress);
  }
  for (const address of [...ofEndpoints, ...(facts.leases ?? []).map(({ ipAddress }) => ipAddress)])
    expect(seen).toContain(address);
}

function permutation<Value>(values: readonly Value[]): fc.Arbitrary<Value[]> {
  return fc.shuffledSubarray([...values], { minLength: values.length, maxLength: values.length });
}

function toText(value: unknown): string {
  return JSON.stringify(value);
}
