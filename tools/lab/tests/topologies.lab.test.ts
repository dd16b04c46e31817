/** From one topology to another while clients ask all the time, and upgrades: real agents, real packets. */
import { setTimeout as delay } from 'node:timers/promises';
import { readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  CLUSTER_EXAMPLES,
  type ClientFleet,
  CONTROLLER_NAMESPACE,
  type LabCluster,
  startVlanLab,
  unifiedAgents,
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

interface RenewingSettings {
  readonly macAddress: string;
  readonly address: string;
  /** When it asks again without a reply. */
  readonly againMs: number;
  /** Between a reply and the next question. */
  readonly pauseMs: number;
}

const WEB_CLIENT: RenewingSettings = { macAddress: WEB, address: ADDRESS, againMs: 500, pauseMs: 0 };

/** A client that asks again and again, as one that renews, and what became of it. */
class Renewing {
  /** How often it asked again in vain, for one reply. */
  mostRetransmissions = 0;
  mostHolders = 0;
  renewals = 0;
  readonly addresses = new Set<string>();
  readonly #settings: RenewingSettings;
  #isEnding = false;
  readonly #done: Promise<void>;

  constructor({ macAddress, address, againMs, pauseMs }: RenewingSettings = WEB_CLIENT) {
    this.#settings = { macAddress, address, againMs, pauseMs };
    this.#done = this.#renew();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#done;
  }

  async #renew(): Promise<void> {
    const { macAddress, address, againMs, pauseMs } = this.#settings;
    while (!this.#isEnding) {
      const xid = fleet.nextXid();
      let asked = 0;
      const answer = await waitFor('an answer', async () => {
        fleet.ask({ macAddress, xid, address });
        asked++;
        return waitFor('an answer', () => fleet.answerTo(xid), againMs).catch(() => undefined);
      });
      this.mostRetransmissions = Math.max(this.mostRetransmissions, asked - 1);
      this.addresses.add(answer.address);
      // Each look starts a process: one client is enough for it.
      if (macAddress === WEB) this.mostHolders = Math.max(this.mostHolders, cluster.holders(POOL).length);
      this.renewals++;
      if (pauseMs > 0) await delay(pauseMs);
    }
  }
}

/** The address of a client, as soon as it is answered. */
function addressOf(macAddress: string): Promise<string> {
  return waitFor('the first answer', () => fleet.addressFor({ macAddress }));
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
    tags: ['nightly'],
    timeout: 360_000,
  }, async () => {
    await cluster.startController('--agent-topology', 'unified', '--no-leader-election');
    await cluster.access.applyAll(unifiedAgents());
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
    await waitFor('the old Deployment to go', async () => !(await deployments()).includes('vm-dhcp-agent-mgmt-1'));
    expect(await deployments()).toEqual(['default-net-48-agent', 'default-net-49-agent', UNIFIED]);
    expect(suspendedAgain()).toEqual([]);

    await switchTo('unified');
    await servedBy(UNIFIED);
    await waitFor('the others to go', async () => (await deployments()).join() === UNIFIED);
    expect(suspendedAgain()).toEqual([]);

    await renewing.end();
    expect([...renewing.addresses]).toEqual([ADDRESS]);
    expect(renewing.mostHolders, 'holders of the server address at a time').toBe(1);
    expect(renewing.renewals).toBeGreaterThan(20);
  });

  it('another image is rolled out under load: the server address is on one interface at a time, and clients that retransmit after a second are answered; an image on hold stays', async () => {
    await cluster.startController('--no-leader-election');
    await cluster.access.applyFile(`${CLUSTER_EXAMPLES}pools.yaml`);
    // The version before is the same program under another name of its image.
    const crowd = Array.from({ length: 8 }, (_, index) => `02:00:5e:00:48:1${index}`);
    await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
    for (const [index, macAddress] of crowd.entries())
      await cluster.access.create(virtualMachine(`default/crowd-${index}`, macAddress, 'default/vlan-48'));
    await cluster.agentReady(POOL);
    await cluster.rolledOut('vm-dhcp-agent-mgmt-1');
    const imageOf = async () =>
      /"image":"([^"]*)"/.exec(
        JSON.stringify(await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/vm-dhcp-agent-mgmt-1`)),
      )?.[1];
    const clients = await Promise.all(
      [WEB, ...crowd].map(async (macAddress) => ({ macAddress, address: await addressOf(macAddress) })),
    );
    const renewing = clients.map((client) => new Renewing({ ...client, againMs: 1_000, pauseMs: 50 }));

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
    for (const [index, client] of renewing.entries()) {
      await client.end();
      expect([...client.addresses]).toEqual([clients[index]?.address]);
      expect(client.mostHolders).toBeLessThanOrEqual(1);
      expect(client.mostRetransmissions).toBeLessThanOrEqual(1);
      expect(client.renewals).toBeGreaterThan(20);
    }
  });

  it('pools move from the namespace where agents ran before, one holder at a time, and are not served twice meanwhile', {
    tags: ['nightly'],
    timeout: 360_000,
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
      subjects: [{ kind: 'ServiceAccount', namespace: CONTROLLER_NAMESPACE, name: 'vm-dhcp-controller' }],
    };
    await cluster.access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: before } });
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
    await waitFor('the old agents to go', async () => {
      const objects = await Promise.all(['Deployment', 'Lease'].map((kind) => cluster.access.list(kind)));
      return !objects.flat().some(({ metadata }) => metadata.namespace === before && metadata.name === group);
    });
    await cluster.agentReady(POOL);
    await renewing.end();
    expect([...renewing.addresses]).toEqual([ADDRESS]);
    expect(renewing.mostHolders, 'holders of the server address at a time').toBe(1);
  });
});
