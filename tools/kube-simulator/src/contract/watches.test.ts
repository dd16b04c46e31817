import { afterEach, beforeEach, expect, it } from 'vitest';
import { textOf } from '../json-parts.js';
import { TestCluster, type WatchedEvent } from './test-cluster.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

const story = (events: readonly WatchedEvent[]): readonly string[] =>
  events.map(({ type, object }) => `${type} ${textOf(object.metadata['name'])}`);

it('sends every change since a resourceVersion in order; leaving a selector is DELETED, coming back ADDED', async () => {
  const from = await cluster.resourceVersion();
  await cluster.createWidget('a', { metadata: { labels: { keep: 'yes' } } });
  await cluster.createWidget('b', { metadata: { labels: { keep: 'no' }, finalizers: ['example.com/f'] } });
  await cluster.patch(`${cluster.widgets}/a`, { spec: { size: 2 } });
  await cluster.patch(`${cluster.widgets}/a`, { spec: { size: 2 } });
  await cluster.patch(`${cluster.widgets}/a`, { metadata: { labels: { keep: 'no' } } });
  await cluster.patch(`${cluster.widgets}/a`, { metadata: { labels: { keep: 'yes' } } });
  await cluster.delete(`${cluster.widgets}/b`);
  await cluster.patch(`${cluster.widgets}/b`, { metadata: { finalizers: null } });
  await cluster.delete(`${cluster.widgets}/a`);
  const since = `resourceVersion=${from}&timeoutSeconds=1`;
  const [all, kept, named] = await Promise.all([
    cluster.watch(since),
    cluster.watch(`${since}&labelSelector=keep%3Dyes`),
    cluster.watch(`${since}&fieldSelector=metadata.name%3Db`),
  ]);
  expect(story(all)).toEqual([
    'ADDED a',
    'ADDED b',
    'MODIFIED a',
    'MODIFIED a',
    'MODIFIED a',
    'MODIFIED b',
    'DELETED b',
    'DELETED a',
  ]);
  expect(story(kept)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
  expect(story(named)).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b']);
  const versions = all.map(({ object }) => Number(object.metadata['resourceVersion']));
  expect(versions).toEqual(versions.toSorted((left, right) => left - right));
  // The old content and labels, with the resourceVersion of the change.
  expect(kept[2]?.object.metadata['labels']).toEqual({ keep: 'yes' });
  expect(kept[2]?.object.metadata['resourceVersion']).toBe(all[3]?.object.metadata['resourceVersion']);
});

it('without a resourceVersion begins with what is there, in the order of names, and goes on live', async () => {
  await cluster.createWidget('y');
  await cluster.createWidget('x');
  const watching = cluster.watch('timeoutSeconds=3', {
    onEvents: async ({ length }) => void (length === 2 && (await cluster.delete(`${cluster.widgets}/x`))),
  });
  expect(story(await watching)).toEqual(['ADDED x', 'ADDED y', 'DELETED x']);
});

it('ends at once with an ERROR event when its resourceVersion is forgotten', async () => {
  const from = await cluster.resourceVersion();
  await cluster.createWidget('forgotten');
  cluster.simulator.compact();
  const events = await cluster.watch(`resourceVersion=${from}&timeoutSeconds=9`);
  expect(events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
});

it('from a resourceVersion in the future is silent', async () => {
  const watching = cluster.watch('resourceVersion=99999999&timeoutSeconds=1');
  await cluster.createWidget('early');
  expect(await watching).toEqual([]);
});

it('sends bookmarks with the current resourceVersion before its time is over', async () => {
  const watching = cluster.watch('allowWatchBookmarks=true&resourceVersion=0&timeoutSeconds=2');
  await cluster.post('/api/v1/namespaces/ns/configmaps', { metadata: { name: 'other-kind' } });
  const events = await watching;
  const current = await cluster.resourceVersion();
  expect(events).toMatchObject([{ type: 'BOOKMARK', object: { kind: 'Widget', metadata: { resourceVersion: current } } }]);
});

it('can begin with a list that ends with a bookmark', async () => {
  await cluster.createWidget('first');
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1';
  const [added, bookmark] = await cluster.watch(query);
  expect(added).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'first' } } });
  expect(bookmark).toMatchObject({
    type: 'BOOKMARK',
    object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  });
});

it('ends when its kind is gone', async () => {
  await cluster.createWidget('first');
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
  const watching = cluster.watch('timeoutSeconds=30', {
    onEvents: async ({ length }) => void (length === 1 && (await cluster.delete(definition))),
  });
  expect(story(await watching)).toEqual(['ADDED first', 'DELETED first']);
  expect((await cluster.get(cluster.widgets)).status).toBe(404);
});
