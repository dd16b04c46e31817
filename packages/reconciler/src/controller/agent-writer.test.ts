import type { KubernetesObject, WriteRefusal } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { AgentAction } from '../agents/agents-plan.js';
import { AgentWriter } from './agent-writer.js';

const deployment = (name: string): KubernetesObject => ({ metadata: { namespace: 'agents', name, uid: name } });

/** The combined result of all writes, if the server answers each with the next of these refusals. */
async function outcomeOf(refusals: readonly (WriteRefusal | 'none')[]) {
  const clock = new FakeClock();
  const resource = new MemoryResource<KubernetesObject>(clock);
  const left = [...refusals];
  const patch: typeof resource.patch = async () => {
    const reason = left.shift() ?? 'none';
    return reason === 'none' ? { ok: true, object: deployment('a') } : { ok: false, reason, message: reason };
  };
  const deployments = Object.assign(Object.create(resource) as typeof resource, { patch });
  const writer = new AgentWriter({
    namespace: 'agents',
    clients: { deployments, unifiedDeployment: resource, leases: resource, pods: resource },
    onWritten: () => undefined,
    onDeleted: () => undefined,
    onConflict: () => undefined,
    onRights: () => undefined,
  });
  const actions = refusals.map(
    (_, index): AgentAction => ({
      kind: 'patch-deployment',
      group: `g${index}`,
      deployment: deployment(`g${index}`),
      patch: {},
      changesPools: true,
    }),
  );
  return await writer.carryOut(actions);
}

describe('AgentWriter', () => {
  it.each<[readonly (WriteRefusal | 'none')[], object]>([
    [['conflict', 'invalid'], { kind: 'retry', reason: 'conflict' }],
    [['invalid', 'conflict'], { kind: 'retry', reason: 'conflict' }],
    [['invalid', 'forbidden', 'none'], { kind: 'retry', reason: 'forbidden: forbidden' }],
    [['none', 'invalid', 'none'], { kind: 'terminal', reason: 'invalid', recheckAfterMs: 30_000 }],
    [['none', 'none'], { kind: 'settled' }],
  ])('the most urgent result of several writes counts: %j', async (refusals, expected) => {
    expect(await outcomeOf(refusals)).toEqual(expected);
  });

  it.each<[WriteRefusal, string, string | undefined]>([
    ['already-exists', 'Role', 'there is a Role tenant/g without the label network.harvesterhci.io/vm-dhcp-controller=agent'],
    ['forbidden', 'Role', 'the API server refused Role tenant/g, which grants the agents their rights: its words'],
    ['parent-not-found', 'ServiceAccount', 'ServiceAccount tenant/g cannot be created: its words; create the namespace'],
    ['parent-not-found', 'RoleBinding', undefined],
    ['conflict', 'Role', undefined],
  ])('a right that cannot be granted is reported: %s for a %s', async (reason, kind, message) => {
    const resource = new MemoryResource<KubernetesObject>(new FakeClock());
    const create: typeof resource.create = async () => ({ ok: false, reason, message: 'its words' });
    const refusing = Object.assign(Object.create(resource) as typeof resource, { create });
    const problems: (string | undefined)[] = [];
    const writer = new AgentWriter({
      namespace: 'agents',
      clients: {
        deployments: resource,
        unifiedDeployment: resource,
        leases: resource,
        pods: resource,
        serviceAccounts: refusing,
        roles: refusing,
        roleBindings: refusing,
      },
      onWritten: () => undefined,
      onDeleted: () => undefined,
      onConflict: () => undefined,
      onRights: (_, problem) => problems.push(problem?.message),
    });
    const object = { kind, metadata: { namespace: 'tenant', name: 'g' } };
    const result = await writer.carryOut([{ kind: 'create-right', group: 'g', object }]);
    expect(result.kind).toBe('retry');
    expect(problems).toEqual([message === undefined ? undefined : expect.stringContaining(message)]);
  });

  it.each([
    [undefined, 3],
    [2.75, 3],
    [15, 15],
  ])('guards a Lease for as long as an agent that cannot renew it may stay leader: %s s', async (leaseSeconds, guardSeconds) => {
    const clock = new FakeClock();
    const resource = new MemoryResource<KubernetesObject>(clock);
    const writer = new AgentWriter({
      namespace: 'agents',
      leaseSeconds,
      clients: { deployments: resource, unifiedDeployment: resource, leases: resource, pods: resource },
      onWritten: () => undefined,
      onDeleted: () => undefined,
      onConflict: () => undefined,
      onRights: () => undefined,
    });
    const written = writer.carryOut([{ kind: 'create-lease', group: 'g', poolKeys: [], isGuarded: true }]);
    await clock.advance(1_000);
    await written;
    expect(resource.objects.get('agents/g')?.spec).toMatchObject({ leaseDurationSeconds: guardSeconds });
  });
});

describe('a plan from an older state is not written', () => {
  const leaseObject: KubernetesObject = {
    metadata: { namespace: 'agents', name: 'g', uid: 'l', resourceVersion: '1', annotations: {} },
  };
  const role: KubernetesObject = { kind: 'Role', metadata: { namespace: 'tenant', name: 'g', resourceVersion: '1' } };
  const old = { ...deployment('g'), metadata: { ...deployment('g').metadata, resourceVersion: '1' } };

  it.each<[AgentAction, boolean]>([
    [{ kind: 'patch-deployment', group: 'g', deployment: old, patch: { spec: {} }, changesPools: true }, true],
    [{ kind: 'suspend', group: 'g', lease: leaseObject, poolKeys: ['default/a'] }, true],
    [{ kind: 'patch-right', group: 'g', object: role, patch: { rules: [] } } as unknown as AgentAction, true],
    // Nothing else depends on these annotations, and the leader renews the Lease all the time.
    [{ kind: 'set-lease-settings', group: 'g', lease: leaseObject, annotations: { a: 'b', c: null } }, false],
  ])('$0.kind: guarded by the version that it was planned from: $1', async (action, isGuarded) => {
    const clock = new FakeClock();
    const store = new MemoryResource<KubernetesObject>(clock);
    // Another client has changed each of them since: version 3 and later.
    for (const object of [old, leaseObject, role, old, leaseObject, role]) store.put(object);
    const written: string[] = [];
    const writer = new AgentWriter({
      namespace: 'agents',
      clients: { deployments: store, unifiedDeployment: store, leases: store, pods: store, roles: store },
      onWritten: (kind) => written.push(kind),
      onDeleted: () => undefined,
      onConflict: () => expect.unreachable('there is no Deployment of another owner'),
      onRights: () => undefined,
    });
    const writing = writer.carryOut([action]);
    await clock.advance(10);
    expect(await writing).toEqual(isGuarded ? { kind: 'retry', reason: 'conflict' } : { kind: 'settled' });
    expect(written).toHaveLength(isGuarded ? 0 : 1);
  });

  it('a write that throws does not prevent the others, and the error is thrown at the end', async () => {
    const clock = new FakeClock();
    const store = new MemoryResource<KubernetesObject>(clock);
    store.put(deployment('a'));
    store.put(deployment('b'));
    let calls = 0;
    const remove: typeof store.delete = async (key, uid) => {
      if (++calls === 1) throw new Error('connection reset');
      return store.delete(key, uid);
    };
    const deployments = Object.assign(Object.create(store) as typeof store, { delete: remove });
    const deleted: string[] = [];
    const writer = new AgentWriter({
      namespace: 'agents',
      clients: { deployments, unifiedDeployment: store, leases: store, pods: store },
      onWritten: () => undefined,
      onDeleted: (_, object) => deleted.push(object.metadata.name),
      onConflict: () => undefined,
      onRights: () => undefined,
    });
    const actions = ['a', 'b', 'gone'].map(
      (name): AgentAction => ({ kind: 'delete-deployment', group: name, deployment: deployment(name) }),
    );
    const writing = expect(writer.carryOut(actions)).rejects.toThrow('connection reset');
    await clock.advance(10);
    await writing;
    expect(deleted.toSorted()).toEqual(['b', 'gone']);
  });
});

describe('a RoleBinding', () => {
  const rightsIn = (namespace: string): readonly AgentAction[] =>
    ['RoleBinding', 'Role'].map((kind) => ({
      kind: 'create-right',
      group: 'g',
      object: { kind, metadata: { namespace, name: 'g' } },
    }));

  /** @param answer - to each Role. @returns the requests in order, and the result. */
  async function grant(answer: (namespace: string) => ReturnType<MemoryResource<KubernetesObject>['create']>) {
    const store = new MemoryResource<KubernetesObject>(new FakeClock());
    const asked: string[] = [];
    const granting = (create: typeof answer) =>
      Object.assign(Object.create(store) as typeof store, {
        create: async ({ kind, metadata }: KubernetesObject) => {
          const result = await create(metadata.namespace ?? '');
          asked.push(`${kind} ${metadata.namespace}`);
          return result;
        },
      });
    const granted = async () => ({ ok: true, object: deployment('a') }) as const;
    const writer = new AgentWriter({
      namespace: 'agents',
      clients: {
        deployments: store,
        unifiedDeployment: store,
        leases: store,
        pods: store,
        roles: granting(answer),
        roleBindings: granting(granted),
      },
      onWritten: () => undefined,
      onDeleted: () => undefined,
      onConflict: () => undefined,
      onRights: () => undefined,
    });
    const result = await writer.carryOut([...rightsIn('red'), ...rightsIn('blue')]);
    return { asked, result };
  }

  it('is created after its Role, as API servers require, and waits for no other', async () => {
    const red = Promise.withResolvers<void>();
    const granting = grant(async (namespace) => {
      if (namespace === 'red') await red.promise;
      else setImmediate(() => red.resolve());
      return { ok: true, object: deployment('a') };
    });
    const { asked, result } = await granting;
    expect(asked).toEqual(['Role blue', 'RoleBinding blue', 'Role red', 'RoleBinding red']);
    expect(result).toEqual({ kind: 'settled' });
  });

  it('is not created if its Role is refused: both are tried again', async () => {
    const { asked, result } = await grant(async (namespace) =>
      namespace === 'red' ? { ok: false, reason: 'forbidden', message: 'no' } : { ok: true, object: deployment('a') },
    );
    expect(asked.toSorted()).toEqual(['Role blue', 'Role red', 'RoleBinding blue']);
    expect(result.kind).toBe('retry');
  });
});
