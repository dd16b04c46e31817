/**
 * From Harvester's vm-dhcp-controller to this one and back while real clients renew. Real: the command, our controller, our agents, the clients, the
 * packets. Imitated: Harvester's controller (`UpstreamController`), and the process of its bare agent pod, which is our agent on a bare host: it
 * has the server address on eth1, knows the leases that the pool's status recorded when it started, and knows nothing of Kubernetes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import { idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { agentInterfaceName } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  applyUpstreamDefinitions,
  CLUSTER_EXAMPLES,
  CONTROLLER_BIN,
  has,
  ipPool,
  type LabCluster,
  type LabPod,
  LabProcess,
  needs,
  networkAttachment,
  ownControllerDeployment,
  ProgramPod,
  poolOfUpstreamPod,
  startClient,
  startVlanLab,
  UPSTREAM_NAME,
  UPSTREAM_NAMESPACE,
  UpstreamController,
  upstreamChart,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const POOL = 'default/net-48';
const CLIENTS = { '02:00:5e:00:48:01': '192.168.48.42', '02:00:5e:00:48:02': '192.168.48.17' };
const [ASKING, RENEWING] = Object.keys(CLIENTS) as [string, string];
/** RFC 2131 §4.1: the first retransmission comes after 4 seconds. */
const RETRANSMISSION_MS = 4_000;

let vlans: VlanLab;
let cluster: LabCluster;

beforeEach(async () => {
  vlans = await startVlanLab([48], { runPod });
  ({ cluster } = vlans);
});

afterEach(() => vlans.stop());

/** What the pods of this lab run. */
function runPod(pod: Pod, runAgent: (pod: Pod) => PodProcess): PodProcess {
  const labels: Readonly<Record<string, string>> = pod.metadata.labels ?? {};
  if (labels['network.harvesterhci.io/agent-group'] !== undefined) return runAgent(pod);
  if (poolOfUpstreamPod(pod as unknown as KubernetesObject) !== undefined) return runAgent(asBareHost(pod));
  if (labels['app.kubernetes.io/component'] !== 'controller') return idlePod(pod);
  if (labels['app.kubernetes.io/name'] === UPSTREAM_NAME) return new UpstreamController(cluster.access);
  return new ProgramPod(pod, cluster.place);
}

/** The pod of Harvester's agent, with our agent on a bare host as its process. */
function asBareHost(pod: Pod): Pod {
  const pools = join(vlans.lab.folder, 'upstream-pools.yaml');
  const reservations = Object.entries(CLIENTS).map(([macAddress, ipAddress]) => ({ macAddress, ipAddress }));
  writeFileSync(pools, JSON.stringify(poolWith({ reservations })));
  const state = join(vlans.lab.folder, `state-${pod.metadata.uid}`);
  const served = ['--pools', pools, '--interface', `${POOL}=eth1`, '--configure-interfaces', '--state', state];
  const args = ['serve', ...served, '--http', '$(POD_IP):8080'];
  const env = [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
  return { ...pod, spec: { ...pod.spec, containers: [{ name: 'agent', image: 'agent:v1.6', args, env }] } } as unknown as Pod;
}

function poolWith(more: Readonly<Record<string, unknown>> = {}): KubernetesObject {
  const pool = { start: '192.168.48.10', end: '192.168.48.99' };
  const ipv4Config = { cidr: '192.168.48.0/24', serverIP: '192.168.48.2', pool, leaseTime: 12, ...more };
  return ipPool(POOL, { network: 'default/vlan-48', ipv4Config });
}

/** A cluster as Harvester leaves it: its chart, a pool with two addresses, and their virtual machines; ours is installed and waits. */
async function installBoth(): Promise<void> {
  const { access } = cluster;
  await access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: UPSTREAM_NAMESPACE } });
  await applyUpstreamDefinitions(access);
  await access.create(networkAttachment('default/vlan-48', 'mgmt'));
  await access.create(poolWith());
  const allocated = Object.fromEntries(Object.entries(CLIENTS).map(([macAddress, address]) => [address, macAddress]));
  await access.client('IPPool').patchStatus({ key: POOL }, { status: { ipv4: { allocated, used: 2, available: 88 } } });
  for (const [index, macAddress] of Object.keys(CLIENTS).entries())
    await access.create(virtualMachine(`default/vm-${index}`, macAddress, 'default/vlan-48'));
  for (const object of upstreamChart()) await access.create(object);
  await access.applyFile(join(CLUSTER_EXAMPLES, 'takeover.yaml'));
  await access.create(ownControllerDeployment('vmdhcp-agent:lab'));
  await access.waitForObject('IPPool', POOL, ({ status }) => readField(status, 'agentPodRef') !== undefined);
}

/** Pods that have the server address: ours on the interface of the pool, Harvester's on eth1. */
function holders(): readonly LabPod[] {
  return [...cluster.pods.values()].filter(({ machine }) =>
    ['eth1', agentInterfaceName(POOL)].some((name) => {
      try {
        return machine.addresses(name).length > 0;
      } catch {
        // It has no such interface, or has ended meanwhile.
        return false;
      }
    }),
  );
}

/** A client that asks all the time, and sends again after four seconds. */
class Asking {
  mostHolders = 0;
  mostRetransmissions = 0;
  longestWaitMs = 0;
  asked = 0;
  readonly addresses = new Set<string>();
  #isEnding = false;
  readonly #done: Promise<void>;

  constructor() {
    this.#done = this.#ask();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#done;
  }

  async #ask(): Promise<void> {
    const { fleet } = vlans;
    while (!this.#isEnding) {
      const [xid, begunAtMs] = [fleet.nextXid(), performance.now()];
      for (let sent = 0; ; sent++) {
        fleet.ask({ macAddress: ASKING, xid, secs: sent * 4, address: CLIENTS[ASKING as keyof typeof CLIENTS] });
        const answer = await fleet.answerWithin(xid, RETRANSMISSION_MS);
        this.mostHolders = Math.max(this.mostHolders, holders().length);
        if (answer === undefined && sent < 5) continue;
        this.mostRetransmissions = Math.max(this.mostRetransmissions, sent);
        this.longestWaitMs = Math.max(this.longestWaitMs, performance.now() - begunAtMs);
        this.addresses.add(answer?.address ?? 'none');
        break;
      }
      this.asked++;
    }
  }
}

async function migrate(...flags: readonly string[]): Promise<string> {
  const backup = join(vlans.lab.folder, 'backup.json');
  const parameters = ['migrate', '--kubeconfig', cluster.kubeconfigPath, '--backup', backup, '--timeout', '60', ...flags];
  const running = new LabProcess(process.execPath, [CONTROLLER_BIN, ...parameters]);
  const { code } = await running.ended(90_000);
  expect(code, running.lines.join('\n')).toBe(0);
  return running.lines.join('\n');
}

const upstreamPods = async () => (await cluster.access.list('Pod')).filter((pod) => poolOfUpstreamPod(pod) !== undefined);

describe('vmdhcp-controller migrate', () => {
  it.skipIf(!has('udhcpc'))(
    `there and back: clients keep their addresses, and are answered at the first retransmission at the latest ${needs('udhcpc')}`,
    {
      timeout: 480_000,
    },
    async () => {
      await installBoth();
      // The pod is there before its agent serves: a client that asks too early reports that it found no server.
      await waitFor('an answer', () => vlans.fleet.addressFor({ macAddress: ASKING }));
      const machine = vlans.lab.addMachine('renewing', { network: 'br48', macAddress: RENEWING });
      const udhcpc = startClient('udhcpc', machine);
      expect((await udhcpc.event('bound')).address).toBe(CLIENTS[RENEWING as keyof typeof CLIENTS]);
      const asking = new Asking();

      await migrate();
      expect(await upstreamPods()).toEqual([]);
      await cluster.agentReady(POOL);
      expect(cluster.holders(POOL)).toHaveLength(1);
      await udhcpc.event('renew');
      const { status } = (await cluster.access.get('IPPool', POOL)) ?? {};
      expect(readField(status, 'ipv4', 'allocated')).toMatchObject({ '192.168.48.42': ASKING, '192.168.48.17': RENEWING });

      await migrate('--back');
      const [pod] = await upstreamPods();
      expect(pod && keyOf(pod)).toBe(`${UPSTREAM_NAMESPACE}/default-net-48-agent`);
      expect(await cluster.access.list('Deployment')).not.toContainEqual(
        expect.objectContaining({ metadata: expect.objectContaining({ namespace: AGENT_NAMESPACE }) }),
      );
      await udhcpc.event('renew');
      await asking.end();
      await udhcpc.process.stop();

      expect([...asking.addresses]).toEqual([CLIENTS[ASKING as keyof typeof CLIENTS]]);
      expect(asking.mostRetransmissions, `longest wait ${asking.longestWaitMs} ms`).toBeLessThanOrEqual(1);
      expect(asking.mostHolders, 'holders of the server address at a time').toBe(1);
      expect(asking.asked).toBeGreaterThan(20);
      const events = udhcpc.events();
      expect(new Set(events.flatMap(({ event, address }) => (event === 'deconfig' ? [] : [address])))).toEqual(
        new Set([CLIENTS[RENEWING as keyof typeof CLIENTS]]),
      );
      expect(events.filter(({ event }) => event === 'deconfig')).toHaveLength(1);
      expect(readText(status, 'agentDeploymentRef', 'namespace')).toBe(AGENT_NAMESPACE);
    },
  );
});
