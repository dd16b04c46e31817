import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { textOf } from '../json-parts.js';
import { metadataOf, namesOf, TestCluster } from './test-cluster.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
  for (const [index, name] of ['p1', 'p2', 'p3', 'p4', 'p5'].entries()) {
    const labels = { idx: String(index + 1), odd: String(index % 2 === 0), ...(index < 2 ? { low: 'yes' } : {}) };
    await cluster.createWidget(name, { metadata: { labels }, spec: { size: index + 1 } });
  }
});
afterEach(() => cluster.stop());

const list = (query: string) => cluster.get(`${cluster.widgets}?${query}`);

describe('a list', () => {
  it.each([
    ['labelSelector', 'odd=true', ['p1', 'p3', 'p5']],
    ['labelSelector', 'odd==true', ['p1', 'p3', 'p5']],
    ['labelSelector', 'odd!=true', ['p2', 'p4']],
    ['labelSelector', 'low', ['p1', 'p2']],
    ['labelSelector', '!low', ['p3', 'p4', 'p5']],
    ['labelSelector', 'idx in (1,3)', ['p1', 'p3']],
    ['labelSelector', 'idx notin (1,2,3,4)', ['p5']],
    ['labelSelector', 'odd=true,low', ['p1']],
    ['labelSelector', 'idx>4', ['p5']],
    ['labelSelector', 'low=', []],
    ['fieldSelector', 'metadata.name=p2', ['p2']],
    ['fieldSelector', 'metadata.name!=p2,metadata.namespace=ns', ['p1', 'p3', 'p4', 'p5']],
  ])('by %s %s finds what it names', async (kind, selector, names) => {
    expect(namesOf(await list(`${kind}=${encodeURIComponent(selector)}`))).toEqual(names);
  });

  it.each([
    ['labelSelector=a%3Db%3Dc', 400, "found '=', expected: ',' or 'end of string'"],
    ['labelSelector=a%20in%20b', 400, "unable to parse requirement: found 'b' expected: '('"],
    ['fieldSelector=spec.size%3D1', 400, 'field label not supported: spec.size'],
    ['fieldSelector=zzz', 400, "invalid selector: 'zzz'; can't understand 'zzz'"],
    ['limit=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    [
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
  ])('with %s is refused', async (query, status, message) => {
    const reply = await list(query);
    expect(reply.status).toBe(status);
    expect(reply.body['message']).toBe(message);
  });

  it('at a resourceVersion that is not there yet is 504 with a hint', async () => {
    const reply = await list('resourceVersion=99999999');
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([504, '1']);
  });

  it('in pages shows one state, whatever happens meanwhile', async () => {
    const first = await list('limit=2');
    expect(namesOf(first)).toEqual(['p1', 'p2']);
    expect(metadataOf(first)['remainingItemCount']).toBe(3);
    await cluster.createWidget('p0');
    await cluster.delete(`${cluster.widgets}/p4`);
    const second = await list(`limit=9&continue=${textOf(metadataOf(first)['continue'])}`);
    expect(namesOf(second)).toEqual(['p3', 'p4', 'p5']);
    expect(metadataOf(second)).toEqual({ continue: '', resourceVersion: metadataOf(first)['resourceVersion'] });
    const exact = await list(`resourceVersionMatch=Exact&resourceVersion=${textOf(metadataOf(first)['resourceVersion'])}`);
    expect(namesOf(exact)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
    expect(namesOf(await list('resourceVersion=0&limit=1'))).toEqual(['p0', 'p1', 'p2', 'p3', 'p5']);
  });

  it('whose state is forgotten is 410, with a token to go on at the current one', async () => {
    const first = await list('limit=2');
    await cluster.createWidget('p9');
    cluster.simulator.compact();
    const expired = await list(`limit=2&continue=${textOf(metadataOf(first)['continue'])}`);
    expect([expired.status, expired.body['reason']]).toEqual([410, 'Expired']);
    const rest = await list(`continue=${textOf(metadataOf(expired)['continue'])}`);
    expect(namesOf(rest)).toEqual(['p3', 'p4', 'p5', 'p9']);
  });

  it('leaves out kind and apiVersion of the items of a built-in kind', async () => {
    const { body } = await cluster.get('/api/v1/namespaces');
    expect(Object.keys((body['items'] as readonly JsonObject[])[0] ?? {})[0]).toBe('metadata');
  });
});

describe('a table', () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

  it('has the columns of the definition', async () => {
    await cluster.patch(`${cluster.widgets}/p1/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const { body } = await cluster.get(`${cluster.widgets}/p1`, accept);
    const columns = (body['columnDefinitions'] as readonly JsonObject[]).map(({ name }) => name);
    expect(columns).toEqual(['Name', 'Size', 'Ready']);
    expect(body).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['p1', 1, 'True'], object: { kind: 'PartialObjectMetadata' } }],
    });
  });

  it('shows metadata only when asked for that', async () => {
    const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const { body } = await cluster.get(`${cluster.widgets}/p1`, partial);
    expect(Object.keys(body)).toEqual(['kind', 'apiVersion', 'metadata']);
  });
});

it.each([
  ['/nope', 404],
  ['/apis/example.com/v9', 404],
  ['/apis/example.com/v1/wd', 404],
  ['/apis/example.com/v1', 200],
  ['/version', 200],
  ['/readyz', 200],
])('GET %s is %i', async (path, status) => {
  expect((await cluster.get(path)).status).toBe(status);
});
