import { formatIpv4Address, type Pool } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { checkPool } from '../pool/check-pool.js';
import type { PoolView } from '../view/pool-views.js';
import type { AdmissionFacts } from './admission-facts.js';
import { bridged, ipPool } from './admission-fixtures.js';
import { factsOfObjects } from './facts-of-objects.js';
import { findNeighbours } from './ip-pool-neighbours.js';

const MANY = 20;
const at = (number: number) => formatIpv4Address((10 << 24) + number);

/** A pool of a VLAN that all of them are on, with 100 addresses of its own. */
function poolOf(index: number, more: Readonly<Record<string, unknown>> = {}): KubernetesObject {
  const pool = { start: at(1_000 * (index + 1)), end: at(1_000 * (index + 1) + 99) };
  return ipPool(
    { cidr: '10.0.0.0/8', serverIP: at(index + 1), pool, ...more },
    { name: `p${index}`, network: `default/n${index}` },
  );
}

const candidate = (object: KubernetesObject) => ({ object, pool: (checkPool(object) as { readonly pool: Pool }).pool });

/** The facts of the whole VLAN. @param onRead - called when the addresses of another pool are read. */
function factsOf(onRead: () => void): AdmissionFacts {
  const objects = [...Array(MANY).keys()].map((index) => poolOf(index));
  const facts = factsOfObjects([...objects, ...objects.map((_, index) => bridged(`n${index}`))]);
  const counted = (view: PoolView): PoolView => ({
    ...view,
    get recorded() {
      onRead();
      return view.recorded;
    },
  });
  return {
    clusterNetworks: facts.clusterNetworks,
    network: (key) => facts.network(key),
    pool: (key) => facts.pool(key),
    servingPool: (network) => facts.servingPool(network),
    overlappingPools: (network, pool) => [...facts.overlappingPools(network, pool)].map(counted),
    poolsInRange: (namespace, range) => facts.poolsInRange(namespace, range),
    claimsOn: (network) => facts.claimsOn(network),
    claimants: (network, macAddress) => facts.claimants(network, macAddress),
    wanting: (network, address) => facts.wanting(network, address),
    machinesHaving: (network, macAddress) => facts.machinesHaving(network, macAddress),
    virtualMachine: (key) => facts.virtualMachine(key),
    knowledgeOf: (virtualMachine) => facts.knowledgeOf(virtualMachine),
  };
}

it.each([
  ['that leaves its addresses as they are reads those of no other pool', { leaseTime: 60 }, 0, undefined],
  [
    'of its range reads those of each other pool once, and names what it would share with all of them',
    { pool: { start: at(1_000), end: at(1_000 * MANY) } },
    MANY - 1,
    ': 10.0.7.208-10.0.8.51, 10.0.11.184-10.0.12.27, 10.0.15.160-10.0.16.3 and 16 more',
  ],
] as const)('a change of a pool %s', (_what, more, reads, message) => {
  let count = 0;
  const facts = factsOf(() => count++);
  const { problems } = findNeighbours(candidate(poolOf(0, more)), candidate(poolOf(0)), facts);
  expect(count).toBe(reads);
  expect(problems.map(({ reason }) => reason)).toEqual(message === undefined ? [] : ['segment-range-shared']);
  expect(problems[0]?.message ?? '').toContain(message ?? '');
});
