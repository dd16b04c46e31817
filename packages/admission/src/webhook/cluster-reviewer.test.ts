import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type AdmissionFacts, factsOfObjects } from '@vmdhcp/reconciler';
import { describe, expect, it } from 'vitest';
import type { AdmissionPath } from './admission-server.js';
import { createClusterReviewer } from './cluster-reviewer.js';

const NETWORK = {
  kind: 'NetworkAttachmentDefinition',
  metadata: { namespace: 'default', name: 'net', resourceVersion: '1' },
  spec: { config: '{"type":"bridge","bridge":"br"}' },
} as unknown as KubernetesObject;

const pool = (ipv4Config: object): KubernetesObject =>
  ({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'pool' },
    spec: { networkName: 'default/net', ipv4Config },
  }) as unknown as KubernetesObject;
const GOOD = { cidr: '192.168.0.0/24', serverIP: '192.168.0.2', pool: { start: '192.168.0.10', end: '192.168.0.20' } };

const MACHINE = {
  kind: 'VirtualMachine',
  metadata: { namespace: 'default', name: 'vm', uid: 'v' },
} as unknown as KubernetesObject;

/** The network was created a moment ago: only the next list has it. */
function setUp() {
  let facts = factsOfObjects([MACHINE]);
  let refreshes = 0;
  const current = new Proxy({} as AdmissionFacts, {
    get: (_, name) => {
      const value: unknown = Reflect.get(facts, name);
      return typeof value === 'function' ? (value.bind(facts) as unknown) : value;
    },
  });
  const review = createClusterReviewer({
    facts: current,
    virtualMachines: { onProblem: 'Warn' },
    controllerUser: 'system:serviceaccount:system:',
    refresh: async () => {
      refreshes += 1;
      facts = factsOfObjects([NETWORK, MACHINE]);
    },
  });
  const ask = async (object: KubernetesObject, path: AdmissionPath = 'validation', resource = 'ippools', username = 'person') =>
    await review(path, {
      uid: 'u',
      resource,
      username,
      request: { operation: 'CREATE', object, namespace: 'default', name: 'pool' },
    });
  const change = async (oldObject: KubernetesObject, object: KubernetesObject, path: AdmissionPath = 'validation') => {
    const request = { operation: 'UPDATE', object, oldObject, namespace: 'default', name: 'pool' } as const;
    return await review(path, { uid: 'u', resource: 'ippools', username: 'person', request });
  };
  return { ask, change, refreshes: () => refreshes };
}

describe('createClusterReviewer', () => {
  it('a refusal because of other objects is decided again with the current state of the API server', async () => {
    const { ask, refreshes } = setUp();
    expect((await ask(pool(GOOD))).response.allowed).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it('an object that is wrong by itself is refused at once', async () => {
    const { ask, refreshes } = setUp();
    expect((await ask(pool({ ...GOOD, cidr: '192.168.0.0/40' }))).response.allowed).toBe(false);
    expect(refreshes()).toBe(0);
  });

  it('an object whose defaults cannot be filled in is refused with all its problems: validation is not called any longer', async () => {
    const { ask } = setUp();
    const wrong = { cidr: '192.168.0.0/24', pool: { exclude: ['10.0.0.1'] }, leaseTime: 'soon' };
    const object = { ...pool(wrong), spec: { networkName: '', ipv4Config: wrong } } as unknown as KubernetesObject;
    const { response } = await ask(object, 'defaulting');
    expect(response.allowed).toBe(false);
    const causes = response.status?.reason === 'Invalid' ? response.status.details.causes : [];
    expect(causes.map(({ field }) => field).toSorted()).toEqual([
      'spec.ipv4Config.leaseTime',
      'spec.ipv4Config.pool.exclude[0]',
      'spec.networkName',
    ]);
  });

  const many = (count: number) => Array.from({ length: count }, (_, index) => index);

  it.each<[what: string, object: KubernetesObject, message: string]>([
    ['exclusions that are numbers', pool({ ...GOOD, pool: { exclude: many(2_000) } }), 'the list of 2000 entries is too long'],
    [
      'routes without fields',
      pool({ ...GOOD, staticRoutes: many(2_000).map(() => ({})) }),
      'the list of 2000 entries is too long',
    ],
    [
      'labels that are numbers',
      { ...pool(GOOD), metadata: { name: 'pool', labels: { ...many(20_000) } as never } },
      'metadata.labels.0: 0 is a number, not text',
    ],
  ])('a pool with thousands of %s is refused with an explanation', async (_what, object, message) => {
    const { status } = (await setUp().ask(object)).response;
    expect(status?.message).toContain(message);
  });

  it.each<[what: string, old: object]>([
    ['a subnet of two addresses without serverIP', { cidr: '192.168.0.0/31' }],
    ['everything excluded, without serverIP', { cidr: '192.168.0.0/24', pool: { exclude: ['192.168.0.1-192.168.0.254'] } }],
  ])('an IPPool from before the webhook with %s can be changed in everything else, but not made worse', async (_what, old) => {
    const { change } = setUp();
    const filled = await change(pool(old), pool({ ...old, leaseTime: 60 }), 'defaulting');
    expect([filled.response, filled.patch]).toEqual([{ allowed: true }, []]);
    const after = (await change(pool(old), pool({ ...old, leaseTime: 60 }))).response;
    expect([after.allowed, after.status]).toEqual([true, undefined]);
    const worse = await change(pool(old), pool({ ...old, cidr: '192.168.0.0/24', pool: { exclude: ['x'] } }), 'defaulting');
    expect(worse.response.allowed).toBe(false);
  });

  it('an IPPool that is being deleted can be changed in any way', async () => {
    const { change } = setUp();
    const old = pool({ cidr: '192.168.0.0/24', serverIP: '192.168.0.1', pool: GOOD.pool });
    const leaving = pool({ cidr: '192.168.0.0/31' });
    const metadata = { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect((await change(old, { ...leaving, metadata }, 'defaulting')).response).toEqual({ allowed: true });
    expect((await change(old, { ...leaving, metadata })).response).toEqual({ allowed: true });
  });

  it.each<[what: string, username: string, owner: object, allowed: boolean]>([
    ['the controller writes for a virtual machine', 'system:serviceaccount:system:controller', { kind: 'VirtualMachine' }, true],
    ['the controller writes for something else', 'system:serviceaccount:system:controller', { kind: 'Pod' }, false],
    [
      'a controller of another user writes for its virtual machine',
      'person',
      { kind: 'VirtualMachine', name: 'vm', uid: 'v' },
      true,
    ],
    ['a person claims is of a virtual machine', 'person', { kind: 'VirtualMachine' }, false],
    ['a person claims is of an earlier virtual machine', 'person', { kind: 'VirtualMachine', name: 'vm', uid: 'w' }, false],
    ['a tenant claims is of a virtual machine', 'system:serviceaccount:system-2:controller', { kind: 'VirtualMachine' }, false],
  ])('a wrong config that %s, allowed: %4$s', async (_what, username, owner, allowed) => {
    const spec = { vmName: 'vm', networkConfigs: [{ networkName: 'default/net', macAddress: 'zz' }] };
    const metadata = { namespace: 'default', name: 'vm', ownerReferences: [owner] };
    const object = { metadata, spec } as unknown as KubernetesObject;
    const { response } = await setUp().ask(object, 'validation', 'virtualmachinenetworkconfigs', username);
    expect(response.allowed).toBe(allowed);
  });

  it('defaults are a patch; other resources are allowed', async () => {
    const { ask } = setUp();
    expect((await ask(pool({ cidr: '192.168.0.0/24' }), 'defaulting')).patch?.length).toBeGreaterThan(0);
    expect(await ask(pool({}), 'validation', 'pods')).toEqual({ response: { allowed: true } });
  });
});
