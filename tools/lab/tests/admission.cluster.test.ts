/**
 * What the API server refuses by itself, where no webhook runs, and manifests that have to apply as they are. The defaults of the webhook are
 * applied by the function that it calls.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, keyOf, readField } from '@vmdhcp/kube-runtime';
import { defaultIpPool, factsOfObjects, reviewIpPool } from '@vmdhcp/reconciler';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLLER_BIN, ipPool, networkAttachment, readYaml, TestCluster } from '../src/index.js';

const CRDS = fileURLToPath(new URL('../../../packages/ippool-api/crds/ippools.yaml', import.meta.url));
const CONFIG_CRDS = CRDS.replace('ippools', 'virtualmachinenetworkconfigs');
const CORPUS = fileURLToPath(new URL('corpus', import.meta.url));

let cluster: TestCluster;
let count = 0;

beforeAll(async () => {
  cluster = await TestCluster.open();
  for (const path of [CRDS, CONFIG_CRDS]) await cluster.access.applyFile(path);
  // Newly defined kinds are not served yet, which does not count as a refusal.
  await cluster.access.create(poolWith({}));
});

afterAll(() => cluster.close());

/** A new pool with these settings, `undefined` leaves one out. */
function poolWith(ipv4Config: Readonly<Record<string, unknown>>): KubernetesObject {
  const object = ipPool(`${cluster.namespace}/pool-${count++}`, { ipv4Config });
  return JSON.parse(JSON.stringify(object)) as KubernetesObject;
}

async function refusal(object: KubernetesObject): Promise<string> {
  const client = cluster.access.client('IPPool');
  const result = await client.create(object);
  return result.ok ? '' : result.message;
}

describe('a new pool, without a webhook', () => {
  it.each<[what: string, config: Readonly<Record<string, unknown>>]>([
    ['as it is', {}],
    ['of one address', { pool: { start: '10.1.0.10', end: '10.1.0.10' } }],
    ['of the whole subnet', { router: '10.1.0.1', pool: { start: '10.1.0.1', end: '10.1.0.254' } }],
    ['of a /31', { cidr: '10.1.0.0/31', serverIP: '10.1.0.0', pool: { start: '10.1.0.1', end: '10.1.0.1' } }],
    ['of a /8', { cidr: '10.0.0.0/8', pool: { start: '10.0.0.1', end: '10.255.255.254' } }],
    ['with host bits in the CIDR', { cidr: '10.1.0.7/24' }],
  ])('%s: accepted', async (_what, config) => expect(await refusal(poolWith(config))).toBe(''));

  const HOST = 'is not the address of a host in the CIDR: choose one between its first address (the network) and its last one';

  it.each<[what: string, config: Readonly<Record<string, unknown>>, text: string]>([
    [
      'with only a CIDR',
      { serverIP: undefined, pool: undefined },
      'ServerIP is missing: write it, or install the admission webhook, which fills it in',
    ],
    [
      'without an end',
      { pool: { start: '10.1.0.10' } },
      'Start or End of the pool is missing: write it, or install the admission webhook',
    ],
    ['reversed', { pool: { start: '10.1.0.99', end: '10.1.0.10' } }, 'The range ends before its start: swap start and end'],
    ['with a start outside', { pool: { start: '10.0.255.10', end: '10.1.0.10' } }, `Start ${HOST}`],
    ['with an end that is the broadcast address', { pool: { start: '10.1.0.10', end: '10.1.0.255' } }, `End ${HOST}`],
    ['with a server that is the network address', { serverIP: '10.1.0.0' }, `ServerIP ${HOST}`],
    ['with a router outside', { router: '10.1.1.1' }, `Router ${HOST}`],
    [
      'whose server is the router',
      { router: '10.1.0.2' },
      'ServerIP is the address of the router too: give the DHCP server an address of its own',
    ],
  ])('%s: refused', async (_what, config, text) => expect(await refusal(poolWith(config))).toContain(text));

  it('from an earlier version, which breaks the rules and has a status, can be released', async () => {
    const definitions = cluster.access.client('CustomResourceDefinition');
    const key = 'ippools.network.harvesterhci.io';
    const versions = readField((await definitions.get(key))?.spec, 'versions') as object[];
    const lax = JSON.parse(JSON.stringify(versions)) as { schema: { openAPIV3Schema: Record<string, unknown> } }[];
    for (const { schema } of lax) delete schema.openAPIV3Schema['x-kubernetes-validations'];
    await definitions.patch({ key }, { spec: { versions: lax } });
    const object = poolWith({ pool: { start: '10.1.0.99', end: '10.1.0.10' } });
    await cluster.access.create({ ...object, metadata: { ...object.metadata, finalizers: ['wrangler.cattle.io/x'] } });
    await cluster.access.client('IPPool').patchStatus({ key: keyOf(object) }, { status: { ipv4: { used: 0, available: 0 } } });
    await definitions.patch({ key }, { spec: { versions } });
    expect(await refusal(poolWith({ pool: { start: '10.1.0.99', end: '10.1.0.10' } })), 'of a new one').not.toBe('');
    const released = await cluster.access.client('IPPool').patch({ key: keyOf(object) }, { metadata: { finalizers: [] } });
    expect(released.ok).toBe(true);
  });

  it('law: the API server refuses what the rules find, as far as CEL can express it', async () => {
    const address = fc.integer({ min: -2, max: 66 }).map((offset) => {
      const last = 10 * 65_536 + 256 + offset;
      return `10.${Math.floor(last / 65_536)}.${Math.floor(last / 256) % 256}.${last % 256}`;
    });
    const settings = fc.record({
      start: address,
      end: address,
      serverIP: address,
      router: fc.option(address, { nil: undefined }),
    });
    const facts = factsOfObjects([]);
    await fc.assert(
      fc.asyncProperty(settings, fc.integer({ min: 26, max: 31 }), async ({ start, end, serverIP, router }, length) => {
        const object = poolWith({ cidr: `10.10.1.0/${length}`, serverIP, router, pool: { start, end } });
        const { namespace = '', name } = object.metadata;
        const { problems } = reviewIpPool({ operation: 'CREATE', object, namespace, name }, facts);
        const ofObject = problems.filter(({ dependsOnOthers }) => dependsOnOthers !== true);
        expect((await refusal(object)) === '', JSON.stringify(ofObject)).toBe(ofObject.length === 0);
      }),
      { numRuns: 150 },
    );
  });
});

describe('manifests from before apply unchanged', () => {
  const files = readdirSync(CORPUS);

  it('and a check of them finds no problem', () => {
    const { status, stdout } = spawnSync(process.execPath, [CONTROLLER_BIN, 'check', '-f', CORPUS], { encoding: 'utf8' });
    expect(stdout).not.toContain('problem:');
    expect(status).toBe(0);
  });

  it.each(files)('%s', async (file) => {
    const objects = readYaml(`${CORPUS}/${file}`).flatMap(itemsOf).map(moved);
    for (const object of objects) await cluster.access.create(object.kind === 'IPPool' ? defaulted(object) : object);
    expect(objects.length).toBeGreaterThan(0);
  });

  it('a network that does not exist is the only thing that a rule finds about them', () => {
    const pool = moved(ipPool('default/net'));
    const { namespace = '', name } = pool.metadata;
    const review = (objects: KubernetesObject[]) =>
      reviewIpPool({ operation: 'CREATE', object: pool, namespace, name }, factsOfObjects(objects)).problems.map(
        ({ reason }) => reason,
      );
    expect(review([])).toEqual(['network-missing']);
    expect(review([networkAttachment(`${namespace}/net`)])).toEqual([]);
  });
});

function itemsOf(object: KubernetesObject): KubernetesObject[] {
  return object.kind === 'List' ? [...(readField(object, 'items') as KubernetesObject[])] : [object];
}

/** In the namespace of the test. */
function moved(object: KubernetesObject): KubernetesObject {
  const text = JSON.stringify(object).replaceAll('"default/', `"${cluster.namespace}/`);
  const copy = JSON.parse(text) as KubernetesObject;
  return { ...copy, metadata: { ...copy.metadata, namespace: cluster.namespace } };
}

/** As the API server has it once the webhook has answered. */
function defaulted(object: KubernetesObject): KubernetesObject {
  const { namespace = '', name } = object.metadata;
  const { patch, problems } = defaultIpPool({ operation: 'CREATE', object, namespace, name }, factsOfObjects([]));
  expect(problems).toEqual([]);
  const copy = structuredClone(object);
  for (const operation of patch) {
    const path = operation.path.split('/').slice(1);
    const parent = readField(copy, ...path.slice(0, -1)) as Record<string, unknown>;
    if (operation.op === 'remove') delete parent[path.at(-1) ?? ''];
    else parent[path.at(-1) ?? ''] = operation.value;
  }
  return copy;
}
