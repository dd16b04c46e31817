/**
 * The behaviour that every user of `ObjectClient` and `LeaseStore` relies on, as cases that every implementation must pass: the one in memory as well
 * as the one for an API server.
 */

import type { ObjectClient, WriteResult } from '../api/object-client.js';
import type { WatchEvent } from '../api/resource-port.js';
import type { LeaseStore } from '../election/lease-store.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField } from '../object/read-field.js';

/** A client of objects, and the object that a test uses. */
export interface ObjectClientTarget {
  /** A client of a kind with a status subresource. */
  readonly client: ObjectClient<KubernetesObject>;
  /** An object of that kind that the server accepts; `text` makes its spec differ. */
  readonly object: (name: string, text?: string) => KubernetesObject;
  /** The merge patch that sets `text` in the spec of `object`. */
  readonly specPatch: (text: string) => Readonly<Record<string, unknown>>;
  /** A status that the server accepts. */
  readonly status: Readonly<Record<string, unknown>>;
  /** Waits for an answer; time passes meanwhile. */
  readonly wait: <Value>(answer: Promise<Value>) => Promise<Value>;
  /** Lets time pass until `look` returns true. @throws Error if that takes too long. */
  readonly until: (what: string, look: () => boolean) => Promise<void>;
}

/** A client of the subresource `scale`, and the object that a test uses. */
export interface ScaleTarget {
  /** A client of a kind with the subresource `scale`, such as Deployments. */
  readonly client: ObjectClient<KubernetesObject>;
  readonly object: (name: string, replicas: number) => KubernetesObject;
  readonly wait: <Value>(answer: Promise<Value>) => Promise<Value>;
}

/** Two replicas of a store of Leases, and how a test waits. */
export interface LeaseStoreTarget {
  /** Two processes' views of the same Lease, which does not exist yet. */
  readonly one: LeaseStore;
  readonly other: LeaseStore;
  readonly wait: <Value>(answer: Promise<Value>) => Promise<Value>;
}

/** One thing that every implementation of a port must do. */
export interface ContractCase<Target> {
  readonly name: string;
  /** @throws Error that names the difference. */
  readonly check: (target: Target) => Promise<void>;
}

/** What every client of objects must do, for tests of one. */
export const OBJECT_CLIENT_CONTRACT: readonly ContractCase<ObjectClientTarget>[] = [
  {
    name: 'a created object is listed, with a uid, a version and generation 1; its status is dropped',
    check: async (target) => {
      const { client, object, wait, status } = target;
      const created = accepted(await wait(client.create({ ...object('a'), status })));
      const [listed] = await listAll(target);
      same(listed?.metadata.uid, created.metadata.uid, 'uid');
      same(created.metadata.generation, 1, 'generation');
      same(created.status, undefined, 'status');
      same(created.metadata.resourceVersion === undefined || created.metadata.uid === undefined, false, 'missing');
    },
  },
  {
    name: 'an existing object is not created again',
    check: async ({ client, object, wait }) => {
      accepted(await wait(client.create(object('a'))));
      refusedWith(await wait(client.create(object('a', 'else'))), 'already-exists');
    },
  },
  {
    name: 'a patch at the version that was read changes it: version and generation go on',
    check: async ({ client, object, specPatch, wait }) => {
      const { metadata } = accepted(await wait(client.create(object('a'))));
      const target = { key: keyOf(object('a')), resourceVersion: metadata.resourceVersion };
      const changed = accepted(await wait(client.patch(target, specPatch('else'))));
      same(JSON.stringify(changed.spec), JSON.stringify(object('a', 'else').spec), 'spec');
      same(changed.metadata.generation, 2, 'generation');
      same(changed.metadata.resourceVersion === metadata.resourceVersion, false, 'same version');
    },
  },
  {
    name: 'a patch at another version is refused, and nothing changes',
    check: async (target) => {
      const { client, object, specPatch, wait } = target;
      const { metadata } = accepted(await wait(client.create(object('a'))));
      const key = keyOf(object('a'));
      accepted(await wait(client.patch({ key }, specPatch('else'))));
      refusedWith(await wait(client.patch({ key, resourceVersion: metadata.resourceVersion }, specPatch('third'))), 'conflict');
      const [listed] = await listAll(target);
      same(JSON.stringify(listed?.spec), JSON.stringify(object('a', 'else').spec), 'spec');
    },
  },
  {
    name: 'null in a patch removes; a patch that changes nothing makes no new version',
    check: async ({ client, object, wait }) => {
      accepted(await wait(client.create(object('a'))));
      const key = keyOf(object('a'));
      const labelled = accepted(await wait(client.patch({ key }, { metadata: { labels: { one: '1', two: '2' } } })));
      const again = accepted(await wait(client.patch({ key }, { metadata: { labels: { one: '1' } } })));
      same(again.metadata.resourceVersion, labelled.metadata.resourceVersion, 'version');
      const removed = accepted(await wait(client.patch({ key }, { metadata: { labels: { one: null } } })));
      same(JSON.stringify(removed.metadata.labels), '{"two":"2"}', 'labels');
      same(removed.metadata.generation, 1, 'generation: labels are not part of the spec');
    },
  },
  {
    name: 'a patch of the status changes the status and nothing else; a patch of the rest leaves the status',
    check: async ({ client, object, specPatch, status, wait }) => {
      accepted(await wait(client.create(object('a'))));
      const key = keyOf(object('a'));
      const first = accepted(
        await wait(client.patchStatus({ key }, { ...specPatch('else'), metadata: { labels: { a: 'b' } }, status })),
      );
      same(JSON.stringify(first.status), JSON.stringify(status), 'status');
      same(JSON.stringify(first.spec), JSON.stringify(object('a').spec), 'spec');
      same(first.metadata.generation, 1, 'generation');
      const second = accepted(await wait(client.patch({ key }, { ...specPatch('else'), status: null })));
      same(JSON.stringify(second.status), JSON.stringify(status), 'status after a patch of the spec');
    },
  },
  {
    name: 'one object is read by its key as it is now; its status is a subresource of it',
    check: async ({ client, object, specPatch, status, wait }) => {
      const key = keyOf(object('a'));
      same(await wait(client.get(key)), undefined, 'before it is created');
      accepted(await wait(client.create(object('a'))));
      const patched = accepted(await wait(client.patch({ key }, specPatch('else'))));
      same((await wait(client.get(key)))?.metadata.resourceVersion, patched.metadata.resourceVersion, 'version');
      const { resourceVersion } = patched.metadata;
      const call = { key, name: 'status', resourceVersion, body: { status } };
      const written = accepted(await wait(client.subresource({ ...call, verb: 'patch' })));
      same(JSON.stringify(readField(written, 'status')), JSON.stringify(status), 'status as answered');
      refusedWith(await wait(client.subresource({ ...call, verb: 'patch' })), 'conflict');
      const read = accepted(await wait(client.subresource({ key, name: 'status', verb: 'get' })));
      same(JSON.stringify(readField(read, 'status')), JSON.stringify(status), 'status as read');
    },
  },
  {
    name: 'a missing object is not found',
    check: async ({ client, object, specPatch, wait }) => {
      const key = keyOf(object('a'));
      refusedWith(await wait(client.patch({ key }, specPatch('else'))), 'not-found');
      refusedWith(await wait(client.patchStatus({ key }, { status: {} })), 'not-found');
      refusedWith(await wait(client.delete(key, '00000000-0000-0000-0000-000000000000')), 'not-found');
    },
  },
  {
    name: 'only the object with that uid is deleted',
    check: async (target) => {
      const { client, object, wait } = target;
      const { metadata } = accepted(await wait(client.create(object('a'))));
      const key = keyOf(object('a'));
      refusedWith(await wait(client.delete(key, '00000000-0000-0000-0000-000000000000')), 'conflict');
      same((await listAll(target)).length, 1, 'objects');
      accepted(await wait(client.delete(key, metadata.uid ?? '')));
      same((await listAll(target)).length, 0, 'objects');
    },
  },
  {
    name: 'only the object at that version is deleted, if one is given',
    check: async (target) => {
      const { client, object, specPatch, wait } = target;
      const { metadata } = accepted(await wait(client.create(object('a'))));
      const key = keyOf(object('a'));
      const uid = metadata.uid ?? '';
      const patched = accepted(await wait(client.patch({ key }, specPatch('else'))));
      refusedWith(await wait(client.delete(key, uid, metadata.resourceVersion)), 'conflict');
      same((await listAll(target)).length, 1, 'objects');
      accepted(await wait(client.delete(key, uid, patched.metadata.resourceVersion)));
      same((await listAll(target)).length, 0, 'objects');
    },
  },
  {
    name: 'an object with a finalizer stays, marked, until the finalizer is gone',
    check: async (target) => {
      const { client, object, wait } = target;
      const given = object('a');
      const finalizers = ['example.com/hold'];
      const { metadata } = accepted(await wait(client.create({ ...given, metadata: { ...given.metadata, finalizers } })));
      const key = keyOf(given);
      accepted(await wait(client.delete(key, metadata.uid ?? '')));
      const [marked] = await listAll(target);
      same(typeof marked?.metadata.deletionTimestamp, 'string', 'deletionTimestamp');
      const released = { key, resourceVersion: marked?.metadata.resourceVersion };
      accepted(await wait(client.patch(released, { metadata: { finalizers: [] } })));
      same((await listAll(target)).length, 0, 'objects');
    },
  },
  {
    name: 'pages hold every object once, and all have the version of the first',
    check: async ({ client, object, wait }) => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) accepted(await wait(client.create(object(name))));
      const names: string[] = [];
      const versions = new Set<string>();
      let continueToken: string | undefined;
      do {
        const page = await wait(client.list({ limit: 2, ...(continueToken !== undefined && { continueToken }) }));
        names.push(...page.items.map(({ metadata }) => metadata.name));
        versions.add(page.resourceVersion);
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      same(names.join(), 'a,b,c,d,e', 'names');
      same(versions.size, 1, 'versions');
    },
  },
  {
    name: 'a watch delivers everything after the list, in order; one that was stopped delivers nothing more',
    check: async (target) => {
      const { client, object, specPatch, wait, until } = target;
      accepted(await wait(client.create(object('before'))));
      const { resourceVersion } = await wait(client.list({ limit: 100 }));
      const events: WatchEvent<KubernetesObject>[] = [];
      const stop = client.watch(resourceVersion, { onEvent: (event) => events.push(event), onEnd: () => undefined });
      const { metadata } = accepted(await wait(client.create(object('a'))));
      accepted(await wait(client.patch({ key: keyOf(object('a')) }, specPatch('else'))));
      accepted(await wait(client.delete(keyOf(object('a')), metadata.uid ?? '')));
      const received = () =>
        events.flatMap((event) => (event.type === 'bookmark' ? [] : [`${event.type} ${event.object.metadata.name}`]));
      await until('three events', () => received().length >= 3);
      same(received().join(), 'added a,modified a,deleted a', 'events');
      stop();
      accepted(await wait(client.create(object('after'))));
      await wait(client.list({ limit: 100 }));
      same(received().length, 3, 'events after the end');
    },
  },
];

/** What every client of the subresource `scale` must do, for tests of one. */
export const SCALE_CONTRACT: readonly ContractCase<ScaleTarget>[] = [
  {
    name: 'the scale of an object is read and changed, and nothing else of the object',
    check: async ({ client, object, wait }) => {
      const { metadata } = accepted(await wait(client.create(object('a', 2))));
      const key = keyOf(object('a', 2));
      const before = accepted(await wait(client.subresource({ key, name: 'scale', verb: 'get' })));
      same(readField(before, 'kind'), 'Scale', 'kind');
      same(readField(before, 'metadata', 'uid'), metadata.uid, 'uid');
      same(readField(before, 'spec', 'replicas'), 2, 'replicas');
      const body = { spec: { replicas: 3, other: true }, other: true };
      const scaled = accepted(await wait(client.subresource({ key, name: 'scale', verb: 'patch', body })));
      same(readField(scaled, 'spec', 'replicas'), 3, 'replicas as answered');
      const after = await wait(client.get(key));
      same(readField(after, 'spec', 'replicas'), 3, 'replicas of the object');
      same(readField(after, 'spec', 'other') ?? readField(after, 'other'), undefined, 'another field');
      same(after?.metadata.generation, 2, 'generation');
    },
  },
  {
    name: 'a scale at another version is refused, and nothing changes',
    check: async ({ client, object, wait }) => {
      const { metadata } = accepted(await wait(client.create(object('a', 2))));
      const { resourceVersion } = metadata;
      const call = { key: keyOf(object('a', 2)), name: 'scale', verb: 'patch', resourceVersion } as const;
      accepted(await wait(client.subresource({ ...call, resourceVersion: undefined, body: { spec: { replicas: 3 } } })));
      refusedWith(await wait(client.subresource({ ...call, body: { spec: { replicas: 4 } } })), 'conflict');
      same(readField(await wait(client.get(call.key)), 'spec', 'replicas'), 3, 'replicas');
    },
  },
  {
    name: 'the scale of a missing object, and an unknown subresource, are not found',
    check: async ({ client, object, wait }) => {
      const key = keyOf(object('a', 2));
      for (const verb of ['get', 'patch'] as const)
        refusedWith(await wait(client.subresource({ key, name: 'scale', verb, body: { spec: { replicas: 1 } } })), 'not-found');
      accepted(await wait(client.create(object('a', 2))));
      for (const verb of ['get', 'update', 'create'] as const)
        refusedWith(await wait(client.subresource({ key, name: 'nonsense', verb, body: {} })), 'not-found');
    },
  },
];

/** What every store of Leases must do, for tests of one. */
export const LEASE_STORE_CONTRACT: readonly ContractCase<LeaseStoreTarget>[] = [
  {
    name: 'there is none at first; of two that create it one does',
    check: async ({ one, other, wait }) => {
      same(await wait(one.read()), undefined, 'lease');
      const written = await wait(one.write(lease('one', 0), undefined));
      same(written?.record.holder, 'one', 'holder');
      same(await wait(other.write(lease('other', 0), undefined)), undefined, 'second creation');
      same((await wait(other.read()))?.record.holder, 'one', 'holder');
    },
  },
  {
    name: 'a record is read as it was written, and every write makes another version',
    check: async ({ one, other, wait }) => {
      const first = await wait(one.write(lease('one', 0), undefined));
      const second = await wait(one.write(lease('one', 0), first?.version));
      same(second === undefined || second.version === first?.version, false, 'version');
      const read = await wait(other.read());
      same(JSON.stringify(read?.record), JSON.stringify(lease('one', 0)), 'record');
      same(read?.version, second?.version, 'version');
    },
  },
  {
    name: 'a write at another version changes nothing',
    check: async ({ one, other, wait }) => {
      const first = await wait(one.write(lease('one', 0), undefined));
      await wait(other.read());
      await wait(one.write(lease('one', 0), first?.version));
      same(await wait(other.write(lease('other', 1), first?.version)), undefined, 'stale write');
      same((await wait(other.read()))?.record.holder, 'one', 'holder');
    },
  },
  {
    name: 'a lease that was released has no holder, and another one takes it',
    check: async ({ one, other, wait }) => {
      const first = await wait(one.write(lease('one', 0), undefined));
      await wait(one.write(lease('', 0), first?.version));
      const released = await wait(other.read());
      same(released?.record.holder, '', 'holder');
      const taken = await wait(other.write(lease('other', 1), released?.version));
      same(taken?.record.transitions, 1, 'transitions');
    },
  },
];

function lease(holder: string, transitions: number) {
  return { holder, leaseDurationMs: 5_000, transitions };
}

async function listAll({ client, wait }: ObjectClientTarget): Promise<readonly KubernetesObject[]> {
  return (await wait(client.list({ limit: 100 }))).items;
}

function keyOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function accepted<Kind>(result: WriteResult<Kind>): Kind {
  if (!result.ok) throw new Error(`refused: ${result.reason}: ${result.message}`);
  return result.object;
}

function refusedWith(result: WriteResult<unknown>, reason: string): void {
  if (result.ok) throw new Error(`was to be refused with ${reason}: ${String(readField(result.object, 'kind'))}`);
  same(result.reason, reason, 'reason');
}

function same(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`);
}
