/** From one topology to another while clients ask all the time, and upgrades: real agents, real packets. */
import { readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  CLUSTER_EXAMPLES,
  type ClientFleet,
  type LabCluster,
  startVlanLab,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const POOL = 'default/net-48';
const WEB = '02:00:5e:00:48:01';
const ADDRESS = '192.168.48.10';
const UNIFIED = 'vm-dhcp-controller-agent';

let vlans: VlanLab;
let cluster: LabCluster;
let fleet: ClientFleet;
/** The pools that Leases suspended since the last switch, in order. */
const suspended: { readonly group: string; readonly pools: readonly string[] }[] = [];

beforeEach(async () => {
  vlans = await startVlanLab([48, 49], {
    onLine: (who, line) => {
      if (who === 'controller') noteSuspended(line);
    },
  });
  ({ cluster, fleet } = vlans);
});

afterEach(() => vlans.stop());

function noteSuspended(line: string): void {
  const parsed: unknown = line.startsWith('{') ? JSON.parse(line) : {};
  const [group, pools] = [readText(parsed, 'group'), readField(parsed, 'pools')];
  if (group !== undefined && Array.isArray(pools)) suspended.push({ group, pools: pools.map(String) });
}

/** Pools that a group was allowed to serve, and then was not again: each is a second interruption. */
function suspendedAgain(): string[] {
  return [...Map.groupBy(suspended, ({ group }) => group)].flatMap(([group, texts]) => {
    const released = new Set<string>();
    return texts.flatMap(({ pools }, index) => {
      for (const pool of texts[index - 1]?.pools ?? []) if (!pools.includes(pool)) released.add(pool);
      return pools.filter((pool) => released.has(pool)).map((pool) => `${pool} from ${group}`);
    });
  });
}

/** A client that asks again and again, as one that renews, and what became of it. */
class Renewing {
  longestWaitMs = 0;
  mostHolders = 0;
  renewals = 0;
  readonly addresses = new Set<string>();
  #isEnding = false;
  readonly #done: Promise<void>;

  constructor() {
    this.#done = this.#renew();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#done;
  }

  async #renew(): Promise<void> {
    for (let xid = 1; !this.#isEnding; xid++) {
      const begunAtMs = performance.now();
      // Asks again after half a second, and after that every second.
      const answer = await waitFor(
        'an answer',
        async () => {
          fleet.ask({ macAddress: WEB, xid, address: ADDRESS });
          return waitFor('an answer', () => fleet.answerTo(xid), 500).catch(() => undefined);
        },
        20_000,
      );
      this.longestWaitMs = Math.max(this.longestWaitMs, performance.now() - begunAtMs);
      this.addresses.add(answer.address);
      this.mostHolders = Math.max(this.mostHolders, cluster.holders(POOL).length);
      this.renewals++;
    }
  }
}

async function switchTo(topology: string, ...parameters: readonly string[]): Promise<void> {
  suspended.length = 0;
  await cluster.restartController('--agent-topology', topology, '--no-leader-election', ...parameters);
}

/** Resolves when the pool is served by the agents of this Deployment. */
async function servedBy(deployment: string): Promise<void> {
  await cluster.access.waitForObject(
    'IPPool',
    POOL,
    ({ status }) =>
      readText(status, 'agentDeploymentRef', 'name') === deployment &&
      readText(status, 'servedBy')?.startsWith(`${deployment}-`) === true,
  );
}

async function deployments(): Promise<string[]> {
  return (await cluster.access.list('Deployment')).map(({ metadata }) => metadata.name).toSorted();
}

describe('agents of a cluster', () => {
  it('pools move from one topology to another, one holder at a time, and a client that renews keeps its address', {
    timeout: 180_000,
  }, async () => {
    await cluster.startController('--agent-topology', 'unified', '--no-leader-election');
    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}agent.yaml`);
    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}pools.yaml`);
    await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
    await cluster.agentReady(POOL);
    await servedBy(UNIFIED);
    await waitFor('the first answer', async () => {
      fleet.ask({ macAddress: WEB, xid: 999_999, address: ADDRESS });
      return fleet.answerTo(999_999);
    });
    const renewing = new Renewing();

    await switchTo('per-network');
    await servedBy('vm-dhcp-agent-mgmt-1');
    await waitFor('the chart’s agents to be configured with no pool', async () => {
      const chart = await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${UNIFIED}`);
      return !JSON.stringify(chart?.spec).includes('net-48');
    });
    expect(suspended.length).toBeGreaterThan(0);
    expect(suspendedAgain()).toEqual([]);

    await switchTo('per-pool');
    await servedBy('default-net-48-agent');
    await waitFor('the old Deployment to go', async () => !(await deployments()).includes('vm-dhcp-agent-mgmt-1'), 30_000);
    expect(await deployments()).toEqual(['default-net-48-agent', 'default-net-49-agent', UNIFIED]);
    expect(suspendedAgain()).toEqual([]);

    await switchTo('unified');
    await servedBy(UNIFIED);
    await waitFor('the others to go', async () => (await deployments()).join() === UNIFIED, 30_000);
    expect(suspendedAgain()).toEqual([]);

    await renewing.end();
    expect([...renewing.addresses]).toEqual([ADDRESS]);
    expect(renewing.mostHolders, 'holders of the server address at a time').toBe(1);
    expect(renewing.renewals).toBeGreaterThan(20);
  });

  it('another image is rolled out with the server address on one interface at a time; one on hold stays', {
    timeout: 120_000,
  }, async () => {
    await cluster.startController('--no-leader-election');
    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}pools.yaml`);
    await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
    await cluster.agentReady(POOL);
    await cluster.rolledOut('vm-dhcp-agent-mgmt-1');
    const imageOf = async () =>
      /"image":"([^"]*)"/.exec(
        JSON.stringify(await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/vm-dhcp-agent-mgmt-1`)),
      )?.[1];
    const renewing = new Renewing();

    await cluster.access.patch('IPPool', POOL, {
      metadata: { annotations: { 'network.harvesterhci.io/hold-ippool-agent-upgrade': '' } },
    });
    await switchTo('per-network', '--image', 'vmdhcp-agent:next');
    await cluster.agentReady(POOL);
    expect(await imageOf()).toBe('vmdhcp-agent:lab');

    await cluster.access.patch('IPPool', POOL, {
      metadata: { annotations: { 'network.harvesterhci.io/hold-ippool-agent-upgrade': null } },
    });
    await waitFor('the new image', async () => (await imageOf()) === 'vmdhcp-agent:next');
    await cluster.rolledOut('vm-dhcp-agent-mgmt-1');
    await renewing.end();
    expect([...renewing.addresses]).toEqual([ADDRESS]);
    expect(renewing.mostHolders).toBe(1);
  });

  it('pools move from the namespace where agents ran before, one holder at a time, and are not served twice meanwhile', {
    timeout: 180_000,
  }, async () => {
    const before = 'harvester-system';
    const group = 'vm-dhcp-agent-mgmt-1';
    const namespaceOf = (status: unknown) => readText(status, 'agentDeploymentRef', 'namespace');
    // What a controller that ran its agents beside itself was allowed to do there.
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace: before, name: 'earlier' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: before, name: 'vm-dhcp-controller' }],
    };
    await cluster.access.create(binding);
    await cluster.startController('--no-leader-election', '--namespace', before);
    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}pools.yaml`);
    await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
    await cluster.agentReady(POOL);
    await servedBy(group);
    await waitFor('the first answer', async () => {
      fleet.ask({ macAddress: WEB, xid: 999_999, address: ADDRESS });
      return fleet.answerTo(999_999);
    });
    const renewing = new Renewing();
    await cluster.access.delete('RoleBinding', `${before}/earlier`);

    await cluster.restartController('--no-leader-election');
    await cluster.access.waitForObject('IPPool', POOL, ({ status }) =>
      readConditions(status).some(({ type, reason }) => type === 'AgentReady' && reason === 'AgentsElsewhere'),
    );
    expect(await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${group}`)).toBeUndefined();

    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}takeover.yaml`);
    await cluster.restartController('--no-leader-election', '--previous-namespace', before);
    await cluster.access.waitForObject('IPPool', POOL, ({ status }) => namespaceOf(status) === AGENT_NAMESPACE);
    await waitFor(
      'the old agents to go',
      async () => {
        const objects = await Promise.all(['Deployment', 'Lease'].map((kind) => cluster.access.list(kind)));
        return !objects.flat().some(({ metadata }) => metadata.namespace === before && metadata.name === group);
      },
      30_000,
    );
    await cluster.agentReady(POOL);
    await renewing.end();
    expect([...renewing.addresses]).toEqual([ADDRESS]);
    expect(renewing.mostHolders, 'holders of the server address at a time').toBe(1);
  });
});
