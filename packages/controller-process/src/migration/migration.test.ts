import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryCluster } from './memory-cluster-fixtures.js';
import { Migration } from './migration.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CLAIMED = 'ippools.network.harvesterhci.io';
const RUN = 'network.harvesterhci.io/migration-run';
const LEASES = '/apis/coordination.k8s.io/v1/leases';
const LEASE = 'vm-dhcp-agents/g';
const ANOTHER_RUN = 'done forward 2f1e';
const ENDS = `another run of this command has begun since (${ANOTHER_RUN}); this one ends`;
const LABELS = { 'network.harvesterhci.io/vm-dhcp-controller': 'agent', 'network.harvesterhci.io/agent-group': 'g' };
const NO_ANSWER = new ApiRequestError('no answer');

let cluster: MemoryCluster;

beforeEach(() => {
  cluster = new MemoryCluster();
  cluster.put(DEFINITIONS, { kind: 'CustomResourceDefinition', metadata: { name: CLAIMED } });
  cluster.put(LEASES, {
    kind: 'Lease',
    metadata: { namespace: 'vm-dhcp-agents', name: 'g', uid: '1', labels: LABELS },
    spec: { holderIdentity: 'g-1', leaseDurationSeconds: 0.01 },
  });
});

const lease = () => cluster.get(LEASES, LEASE);
const claimOf = () => cluster.get(DEFINITIONS, CLAIMED)?.metadata.annotations?.[RUN];
const claim = (run: string) => cluster.patch(DEFINITIONS, CLAIMED, { metadata: { annotations: { [RUN]: run } } });

/** A way back that has one Lease to take and to delete. @param onStep - called with the id of each step when it is printed. */
function wayBack(onStep: (id: string) => void = () => undefined): Migration {
  return new Migration(cluster, {
    direction: 'back',
    backupPath: '/nonexistent/backup.json',
    timeoutMs: 5_000,
    onStep: ({ id }) => onStep(id),
    onProgress: () => undefined,
  });
}

describe('a migration', () => {
  it('takes a Lease, waits until its holder has lost its addresses, and deletes it', async () => {
    const steps: string[] = [];
    await wayBack((id) => steps.push(id)).run(3);
    expect(steps).toEqual(['take leases', 'await addresses', 'remove rights']);
    expect(lease()).toBeUndefined();
    expect(claimOf()).toMatch(/^done back /);
  });

  it.each(['take leases', 'await addresses', 'remove rights'])(
    'writes nothing of the step "%s" if another run begins and ends while the step is printed',
    async (printed) => {
      let before: unknown;
      const run = wayBack((id) => {
        if (id !== printed) return;
        claim(ANOTHER_RUN);
        before = lease();
      }).run(3);
      await expect(run).rejects.toThrow(ENDS);
      expect(before).toBeDefined();
      expect(lease()).toEqual(before);
      expect(claimOf()).toBe(ANOTHER_RUN);
    },
  );

  it('writes nothing after it has waited for a Lease to end if another run begins meanwhile', async () => {
    let before: unknown;
    const run = wayBack((id) => {
      if (id === 'await addresses')
        setImmediate(() => {
          claim(ANOTHER_RUN);
          before = lease();
        });
    }).run(3);
    await expect(run).rejects.toThrow(ENDS);
    expect(before).toBeDefined();
    expect(lease()).toEqual(before);
  });

  it('is done although the answer to its last write is lost', async () => {
    cluster.onAnswer = ({ method, body }) => {
      if (method !== 'PATCH' || !JSON.stringify(body).includes('done back')) return;
      cluster.onAnswer = () => undefined;
      throw NO_ANSWER;
    };
    await wayBack().run(3);
    expect(claimOf()).toMatch(/^done back /);
  });

  it('looks again if the API server does not answer its first requests', async () => {
    let failures = 2;
    cluster.onRequest = ({ method }) => {
      if (method === 'GET' && failures-- > 0) throw NO_ANSWER;
    };
    const { steps } = await wayBack().look();
    expect(steps.map(({ id }) => id)).toEqual(['take leases', 'await addresses', 'remove rights']);
    expect(failures).toBeLessThanOrEqual(0);
  });

  it('does not wait for a pod of our agents on a node that is lost', async () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    cluster.put('/api/v1/pods', {
      kind: 'Pod',
      metadata: { namespace: 'vm-dhcp-agents', name: 'g-1', labels: LABELS, deletionTimestamp },
    });
    await wayBack().run(3);
    expect(lease()).toBeUndefined();
  });
});
