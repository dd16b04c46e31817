import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import {
  controllerOf,
  isOwnedBy,
  type OwnedObjectPlan,
  type Ownership,
  planOwnedObject,
  planOwnedObjects,
  toOwnerReference,
} from './plan-owned-object.js';
import { writePlan } from './write-plan.js';

const parent: KubernetesObject = { apiVersion: 'example.com/v1', kind: 'Site', metadata: { name: 'blog', uid: 'uid-blog' } };
const owner: OwnerReference = toOwnerReference(parent);
const OWNER: Ownership = { owner };
const LABEL: Ownership = { isOwn: ({ metadata }) => metadata.labels?.['app'] === 'ours' };

type Parts = Omit<KubernetesObject, 'metadata'> & { readonly metadata?: object };
const object = (kind: string, { metadata, ...parts }: Parts & Record<string, unknown> = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  ...parts,
  metadata: { namespace: 'default', name: 'a', ...metadata },
});
/** An object of ours as it is in the cluster. */
const observed = (kind: string, { metadata, ...parts }: Parts & Record<string, unknown> = {}): KubernetesObject =>
  object(kind, { ...parts, metadata: { uid: 'uid-a', resourceVersion: '7', ownerReferences: [owner], ...metadata } });

describe('planOwnedObject', () => {
  it('fact 20: a missing object is created with its owner; an object as desired is not written', () => {
    const desired = object('ConfigMap', { data: { a: '1' } });
    const plan = planOwnedObject(desired, undefined, OWNER);
    expect(plan).toEqual({ kind: 'create', object: { ...desired, metadata: { ...desired.metadata, ownerReferences: [owner] } } });
    expect(planOwnedObject(desired, observed('ConfigMap', { data: { a: '1' } }), OWNER)).toEqual({ kind: 'nothing' });
  });

  it('fact 20: only fields that are desired are written; fields of others stay', () => {
    const there = observed('Deployment', {
      metadata: { labels: { app: 'x', theirs: '1' }, annotations: { theirs: '2' } },
      spec: { replicas: 5, paused: false, template: { spec: { containers: [{ name: 'a', image: 'old', tty: false }] } } },
      status: { replicas: 5 },
    });
    const desired = object('Deployment', {
      metadata: { labels: { app: 'y' }, annotations: { ours: '3' } },
      spec: { template: { spec: { containers: [{ name: 'a', image: 'new' }] } } },
      status: { replicas: 1 },
    });
    expect(planOwnedObject(desired, there, OWNER)).toEqual({
      kind: 'patch',
      object: there,
      patch: {
        metadata: { labels: { app: 'y' }, annotations: { ours: '3' } },
        spec: { template: { spec: { containers: [{ name: 'a', image: 'new' }] } } },
      },
    });
  });

  it('owners of others stay; our own reference is corrected', () => {
    const other: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'uid-other' };
    const bare: OwnerReference = { ...owner, blockOwnerDeletion: false };
    const there = observed('ConfigMap', { metadata: { ownerReferences: [bare, other] } });
    expect(planOwnedObject(object('ConfigMap'), there, OWNER)).toMatchObject({
      kind: 'patch',
      patch: { metadata: { ownerReferences: [owner, other] } },
    });
    const fine = observed('ConfigMap', { metadata: { ownerReferences: [other, owner] } });
    expect(planOwnedObject(object('ConfigMap'), fine, OWNER)).toEqual({ kind: 'nothing' });
    const desired = object('ConfigMap', { metadata: { ownerReferences: [other, bare] } });
    expect(planOwnedObject(desired, undefined, OWNER)).toMatchObject({
      object: { metadata: { ownerReferences: [other, owner] } },
    });
  });

  it('an object that is being deleted is left alone, whatever is desired', () => {
    const leaving = observed('ConfigMap', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(planOwnedObject(object('ConfigMap', { data: { a: '1' } }), leaving, OWNER)).toEqual({ kind: 'nothing' });
    expect(planOwnedObject(undefined, leaving, OWNER)).toEqual({ kind: 'nothing' });
  });

  it('an object that must not exist is deleted only if it is ours', () => {
    const ours = observed('ConfigMap');
    expect(planOwnedObject(undefined, ours, OWNER)).toEqual({ kind: 'delete', object: ours, isReplaced: false });
    expect(planOwnedObject(undefined, undefined, OWNER)).toEqual({ kind: 'nothing' });
    const theirs = observed('ConfigMap', { metadata: { ownerReferences: [{ ...owner, uid: 'uid-earlier' }] } });
    expect(planOwnedObject(undefined, theirs, OWNER)).toEqual({ kind: 'nothing' });
    expect(planOwnedObject(undefined, ours, {}), 'without an owner, every object belongs to others').toEqual({ kind: 'nothing' });
  });

  it.each<[string, object, Ownership, string]>([
    [
      'an earlier owner of the same name',
      { ownerReferences: [{ ...owner, uid: 'uid-earlier' }] },
      OWNER,
      'ConfigMap default/a exists and was not created for Site blog: it is owned by Site blog; delete it, or use another name',
    ],
    [
      'no owner',
      { ownerReferences: undefined },
      OWNER,
      'ConfigMap default/a exists and was not created for Site blog: it has no owner; delete it, or use another name',
    ],
    [
      'an owner that does not manage it',
      { ownerReferences: [{ ...owner, controller: false }] },
      OWNER,
      'ConfigMap default/a exists and was not created for Site blog: it has no owner; delete it, or use another name',
    ],
    [
      'no label',
      { ownerReferences: undefined, namespace: undefined },
      LABEL,
      'ConfigMap a exists and was not created by this controller: it has no owner; delete it, or use another name',
    ],
  ])('an object of the same name with %s is refused with the remedy', (_, metadata, ownership, message) => {
    const there = observed('ConfigMap', { metadata });
    expect(planOwnedObject(object('ConfigMap'), there, ownership)).toEqual({ kind: 'refuse', object: there, message });
  });

  it('without an owner, objects are recognized by the rule of the controller', () => {
    const there = observed('ConfigMap', { metadata: { labels: { app: 'ours' }, ownerReferences: undefined } });
    const desired = object('ConfigMap', { metadata: { labels: { app: 'ours' } }, data: { a: '1' } });
    expect(planOwnedObject(desired, there, LABEL)).toMatchObject({ kind: 'patch', patch: { data: { a: '1' } } });
    expect(planOwnedObject(undefined, there, LABEL).kind).toBe('delete');
  });
});

describe('immutable fields', () => {
  const REFUSED: readonly [string, string, object, object][] = [
    ['Deployment', 'spec.selector', { selector: { matchLabels: { app: 'new' } } }, { selector: { matchLabels: { app: 'old' } } }],
    ['Deployment', 'spec.selector', { selector: { matchLabels: { a: '1' } } }, { selector: { matchLabels: { a: '1', b: '2' } } }],
    ['DaemonSet', 'spec.selector', { selector: { matchLabels: { app: 'new' } } }, { selector: { matchLabels: { app: 'old' } } }],
    ['StatefulSet', 'spec.selector', { selector: { matchLabels: { a: '1' } } }, { selector: { matchLabels: { a: '2' } } }],
    ['StatefulSet', 'spec.serviceName', { serviceName: 'new' }, { serviceName: 'old' }],
    ['StatefulSet', 'spec.podManagementPolicy', { podManagementPolicy: 'Parallel' }, { podManagementPolicy: 'OrderedReady' }],
    ['StatefulSet', 'spec.volumeClaimTemplates', { volumeClaimTemplates: [{ a: 1 }] }, { volumeClaimTemplates: [{ a: 2 }] }],
    ['PersistentVolumeClaim', 'spec.storageClassName', { storageClassName: 'fast' }, { storageClassName: 'slow' }],
    ['PersistentVolumeClaim', 'spec.accessModes', { accessModes: ['ReadWriteMany'] }, { accessModes: ['ReadWriteOnce'] }],
    ['PersistentVolumeClaim', 'spec.volumeName', { volumeName: 'new' }, { volumeName: 'old' }],
    ['PersistentVolumeClaim', 'spec.volumeMode', { volumeMode: 'Block' }, { volumeMode: 'Filesystem' }],
    ['PersistentVolumeClaim', 'spec.selector', { selector: { a: 'b' } }, {}],
    ['PersistentVolumeClaim', 'spec.dataSource', { dataSource: { name: 'b' } }, { dataSource: { name: 'a' } }],
    ['PersistentVolumeClaim', 'spec.dataSourceRef', { dataSourceRef: { name: 'b' } }, { dataSourceRef: { name: 'a' } }],
    ['Job', 'spec.template', { template: { a: 1 } }, { template: { a: 2 } }],
    ['Job', 'spec.selector', { selector: { a: '1' } }, { selector: { a: '2' } }],
    ['Job', 'spec.completionMode', { completionMode: 'Indexed' }, { completionMode: 'NonIndexed' }],
    ['Service', 'spec.clusterIP', { clusterIP: 'None' }, { clusterIP: '10.0.0.1' }],
  ];
  it.each(REFUSED)('%s: another %s is refused with the remedy, and nothing is written', (kind, path, wanted, there) => {
    const plan = planOwnedObject(object(kind, { spec: wanted }), observed(kind, { spec: there }), OWNER);
    expect(plan.kind).toBe('refuse');
    const { message } = plan as Extract<OwnedObjectPlan, { kind: 'refuse' }>;
    expect(message).toMatch(
      new RegExp(`^${path} of ${kind} default/a is .* and cannot be changed to .*; delete the ${kind}, and it is created again$`),
    );
    expect(planOwnedObject(object(kind, { spec: there }), observed(kind, { spec: there }), OWNER).kind).toBe('nothing');
  });

  it('the message shows both values, keys in order and cut', () => {
    const spec = (app: string) => ({ selector: { matchLabels: { b: app, c: 'y', a: 'x' } } });
    const plan = planOwnedObject(
      object('Deployment', { spec: spec('n'.repeat(1_000)) }),
      observed('Deployment', { spec: spec('old') }),
      OWNER,
    );
    expect(plan).toMatchObject({
      message: expect.stringMatching(
        /^spec\.selector of Deployment default\/a is \{"matchLabels":\{"a":"x","b":"old","c":"y"\}\} and cannot be changed to \{"matchLabels":\{"a":"x","b":"n+\.\.\.; delete/,
      ),
    });
    expect((plan as { message: string }).message.length).toBeLessThan(500);
  });

  it('fields that are not desired, or that the server filled in, are ignored', () => {
    const there = observed('PersistentVolumeClaim', {
      spec: { storageClassName: 'default', resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] },
    });
    const desired = object('PersistentVolumeClaim', { spec: { resources: { requests: { storage: '2Gi' } } } });
    expect(planOwnedObject(desired, there, OWNER)).toMatchObject({
      kind: 'patch',
      patch: { spec: { resources: { requests: { storage: '2Gi' } } } },
    });
  });

  it.each<[string, object, object]>([
    ['RoleBinding', { roleRef: { name: 'new' } }, { roleRef: { name: 'old', apiGroup: 'x' } }],
    ['ClusterRoleBinding', { roleRef: { name: 'new' } }, { roleRef: { name: 'old' } }],
    ['ConfigMap', { data: { a: '1' } }, { data: { a: '2' }, immutable: true }],
    ['ConfigMap', { data: { a: '1' } }, { data: { a: '1', b: '2' }, immutable: true }],
    ['ConfigMap', { binaryData: { a: 'eA==' } }, { binaryData: { b: 'eA==' }, immutable: true }],
    ['Secret', { data: { a: '1' } }, { data: { a: '2' }, immutable: true }],
    ['Secret', { type: 'x' }, { type: 'Opaque', immutable: true }],
  ])('%s: replaced, because nothing is lost: %j', (kind, wanted, there) => {
    const before = observed(kind, { ...there });
    expect(planOwnedObject(object(kind, { ...wanted }), before, OWNER)).toEqual({
      kind: 'delete',
      object: before,
      isReplaced: true,
    });
  });

  it('a ConfigMap that is not immutable is changed; a binding keeps what the server filled in', () => {
    const map = observed('ConfigMap', { data: { a: '2' } });
    expect(planOwnedObject(object('ConfigMap', { data: { a: '1' } }), map, OWNER).kind).toBe('patch');
    const binding = observed('RoleBinding', { roleRef: { name: 'x', apiGroup: 'rbac.authorization.k8s.io' } });
    expect(planOwnedObject(object('RoleBinding', { roleRef: { name: 'x' } }), binding, OWNER).kind).toBe('nothing');
    const subjects = object('RoleBinding', { roleRef: { name: 'x' }, subjects: [{ name: 'b' }] });
    expect(planOwnedObject(subjects, binding, OWNER).kind).toBe('patch');
  });
});

describe('planOwnedObjects', () => {
  it('fact 20: an object that is no longer desired is deleted only if it has the uid of the owner', () => {
    const named = (name: string, metadata: object = {}) => observed('ConfigMap', { metadata: { name, ...metadata } });
    const ofEarlierOwner = named('b', { ownerReferences: [{ ...owner, uid: 'uid-earlier' }] });
    const plans = planOwnedObjects(
      [object('ConfigMap', { metadata: { name: 'kept' } }), object('Secret', { metadata: { name: 'kept' } })],
      [
        named('kept'),
        named('surplus'),
        ofEarlierOwner,
        named('unowned', { ownerReferences: [] }),
        named('kept', { namespace: 'other' }),
      ],
      OWNER,
    );
    expect(
      plans.map(({ kind, object: { kind: what, metadata } }) => `${kind} ${what} ${metadata.namespace}/${metadata.name}`),
    ).toEqual(['create Secret default/kept', 'delete ConfigMap default/surplus', 'delete ConfigMap other/kept']);
  });

  it('law: after the plan is carried out, a new plan is empty, and fields of others are unchanged', async () => {
    const data = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { maxKeys: 3 });
    const entry = fc.record({ name: fc.constantFrom('x', 'y', 'z'), data });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(entry, { selector: ({ name }) => name }),
        fc.uniqueArray(fc.record({ name: fc.constantFrom('x', 'y', 'z'), data, theirs: data, isOurs: fc.boolean() }), {
          selector: ({ name }) => name,
        }),
        async (desired, before) => {
          const clock = new FakeClock();
          const server = new MemoryResource<KubernetesObject>(clock);
          for (const { name, data: own, theirs, isOurs } of before)
            server.put(
              observed('ConfigMap', {
                data: own,
                theirs,
                metadata: { name, uid: name, ...(!isOurs && { ownerReferences: [] }) },
              }),
            );
          const wanted = desired.map(({ name, data: own }) => object('ConfigMap', { metadata: { name }, data: own }));
          const plans = planOwnedObjects(wanted, [...server.objects.values()], OWNER);
          for (const plan of plans) {
            const written = writePlan(server, plan);
            await clock.advance(2);
            const result = await written;
            expect(result?.ok).toBe(plan.kind === 'refuse' ? undefined : true);
          }
          const again = planOwnedObjects(wanted, [...server.objects.values()], OWNER);
          expect(again.filter(({ kind }) => kind !== 'refuse')).toEqual([]);
          for (const { name, theirs, isOurs, data: own } of before) {
            const now = server.objects.get(`default/${name}`) as unknown as { theirs: unknown; data: unknown } | undefined;
            if (!isOurs) expect(now?.data).toEqual(own);
            if (now !== undefined) expect(now.theirs).toEqual(theirs);
            else expect(desired.some((one) => one.name === name) || !isOurs).toBe(false);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('owners', () => {
  it('an owner reference names kind and uid, and manages', () => {
    expect(toOwnerReference(parent)).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Site',
      name: 'blog',
      uid: 'uid-blog',
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  it.each(['apiVersion', 'kind', 'uid'])('an owner without %s throws', (name) => {
    const { [name]: _, ...metadata } = parent.metadata as unknown as Record<string, unknown>;
    const { [name]: __, ...rest } = parent as unknown as Record<string, unknown>;
    const incomplete = { ...rest, metadata } as unknown as KubernetesObject;
    expect(() => toOwnerReference(incomplete)).toThrow('apiVersion, kind and metadata.uid are needed');
  });

  it('the controller is the one that manages, not any owner', () => {
    const first: OwnerReference = { ...owner, uid: 'uid-first', controller: false };
    const both = observed('ConfigMap', { metadata: { ownerReferences: [first, owner] } });
    expect(controllerOf(both)).toBe(owner);
    expect([isOwnedBy(both, OWNER), isOwnedBy(both, { owner: first }), isOwnedBy(object('ConfigMap'), OWNER)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('writePlan', () => {
  const setUp = () => {
    const clock = new FakeClock();
    const server = new MemoryResource<KubernetesObject>(clock);
    const write = async (plan: OwnedObjectPlan) => {
      const result = writePlan(server, plan);
      await clock.advance(2);
      return await result;
    };
    return { server, write };
  };

  it('a patch is written at the version that was planned for: a change in between is a conflict', async () => {
    const { server, write } = setUp();
    server.put(observed('ConfigMap', { data: { a: '1' } }));
    const [before] = server.objects.values();
    const plan = planOwnedObject(object('ConfigMap', { data: { a: '2' } }), before, OWNER);
    server.put({ ...(before as KubernetesObject), ...{ data: { a: '3' } } });
    expect(await write(plan)).toMatchObject({ ok: false, reason: 'conflict' });
  });

  it('a deletion targets the object that was planned for, and succeeds if it is already gone', async () => {
    const { server, write } = setUp();
    const ours = observed('ConfigMap');
    expect(await write({ kind: 'delete', object: ours, isReplaced: false })).toEqual({ ok: true, object: undefined });
    server.put({ ...ours, metadata: { ...ours.metadata, uid: 'uid-later' } });
    expect(await write({ kind: 'delete', object: ours, isReplaced: false })).toMatchObject({ ok: false, reason: 'conflict' });
    expect(server.objects.size).toBe(1);
  });

  it('nothing is written if there is nothing to do or the plan refuses', async () => {
    const { server, write } = setUp();
    expect(await write({ kind: 'nothing' })).toBeUndefined();
    expect(await write({ kind: 'refuse', object: observed('ConfigMap'), message: '' })).toBeUndefined();
    expect(server.objects.size).toBe(0);
  });
});
