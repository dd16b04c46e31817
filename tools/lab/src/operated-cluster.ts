/**
 * A cluster as an administrator finds it after some time: most things work, and one of each kind does not. The controller, the webhook and the plugin
 * are real; agents report and serve no packets, KubeVirt and management controllers are stand-ins, and the records of earlier days are written here.
 */
import { AUDIT_LABEL } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, parseTime, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { idlePod, type Pod } from '@vmdhcp/kube-simulator';
import {
  AUDIT_SLOT_NAMES,
  AUDIT_STATE_NAME,
  formatAuditState,
  formatBatch,
  parseRecord,
  readStoredAudit,
} from '@vmdhcp/reconciler/audit';
import { WolClient } from '@vmdhcp/wake-on-lan/service';
import { answerForAgents } from './answering-agent.js';
import type { ClusterAccess } from './cluster-access.js';
import { controllerReady } from './controller-readiness.js';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import { KubeVirt } from './kubevirt/kubevirt.js';
import { LabProcess } from './lab-process.js';
import { ipPool, networkAttachment } from './network-and-pool.js';
import { PrivateCluster } from './private-cluster.js';
import { CONTROLLER_BIN } from './programs.js';
import { type PoolFindings, ReportingAgent } from './reporting-agent.js';
import { virtualMachine } from './virtual-machine.js';

const AGENTS = 'vm-dhcp-agents';
const BMC = 'bmc.spidernet.io/v1beta1';
/** By name of the virtual machine, all in the namespace `shop`. */
const MACHINES = {
  'web-1': ['02:00:5e:00:48:01', 'vlan-48'],
  'web-2': ['02:00:5e:00:48:02', 'vlan-48'],
  'web-3': ['02:00:5e:00:48:03', 'vlan-48'],
  'cache-0': ['02:00:5e:00:49:01', 'vlan-49'],
  'report-7': ['02:00:5e:00:49:07', 'vlan-49'],
  'lost-0': ['02:00:5e:00:51:01', 'vlan-51'],
} as const;
const INTRUDER = '02:00:5e:00:00:66';

export class OperatedCluster {
  readonly cluster: PrivateCluster;
  readonly #kubevirt: KubeVirt;
  readonly #controller: LabProcess;
  readonly #wakeListener: string;

  private constructor(parts: { cluster: PrivateCluster; kubevirt: KubeVirt; controller: LabProcess; wakeListener: string }) {
    this.cluster = parts.cluster;
    this.#kubevirt = parts.kubevirt;
    this.#controller = parts.controller;
    this.#wakeListener = parts.wakeListener;
  }

  static async start(): Promise<OperatedCluster> {
    const found = new Map<string, PoolFindings>();
    let begun: PrivateCluster | undefined;
    const cluster = await PrivateCluster.start(['everything', 'bare metal', 'crds.yaml'], {
      nodes: ['node-1', 'node-2'].map((name) => ({ name, labels: { 'network.harvesterhci.io/mgmt': 'true' } })),
      // The pods of the manifests start earlier; those of agents begin with the controller.
      runPod: (pod) =>
        begun !== undefined && isAgent(pod) ? new ReportingAgent(pod, begun.admin, { found, leaseSeconds: 60 }) : idlePod(pod),
      execInPod: answerForAgents(() => begun?.simulator),
    });
    begun = cluster;
    const { admin } = cluster;
    for (const object of recordsOfBefore()) await admin.create(object);
    const kubevirt = await KubeVirt.start(cluster.simulator);
    const wakeListener = `127.0.0.1:${await freePort()}`;
    const http = `127.0.0.1:${await freePort()}`;
    const controller = new LabProcess(
      process.execPath,
      [
        ...[CONTROLLER_BIN, 'run', '--kubeconfig', cluster.adminKubeconfig, '--http', http],
        ...['--namespace', AGENTS, '--image', 'ghcr.io/example-org/vmdhcp-agent:0.0.0', '--bare-metal', '--wake-on-lan'],
        ...['--wake-on-lan-clear-text', '--wake-on-lan-listen', wakeListener],
      ],
      { env: { POD_IP: '127.0.0.1', POD_NAMESPACE: 'vm-dhcp-system' } },
    );
    await controllerReady(controller, `http://${http}`);
    await cluster.startWebhook();
    const operated = new OperatedCluster({ cluster, kubevirt, controller, wakeListener });
    await operated.#fill(found);
    return operated;
  }

  async close(): Promise<void> {
    await this.#kubevirt.stop();
    await this.#controller.stop();
    await this.cluster.close();
  }

  /** One after the other, so that each gets the same address in every run. */
  async #fill(found: Map<string, PoolFindings>): Promise<void> {
    const { admin } = this.cluster;
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await this.#addPools();
    await this.#addHosts();
    for (const name of ['web-1', 'web-2', 'cache-0'] as const) {
      await this.#addMachine(name);
      await this.#hasAddress(name);
    }
    for (const name of ['web-3', 'lost-0'] as const) await this.#addMachine(name);
    const [macAddress] = MACHINES['cache-0'];
    found.set('shop/vlan-49', { conflicts: [{ address: '192.168.49.10', macAddress, usedBy: INTRUDER }], rogueServers: [] });
    found.set('shop/vlan-48', { rogueServers: [{ address: '192.168.48.66', macAddress: INTRUDER }] });
    await this.#hasAddress('cache-0', '192.168.49.11');
    await this.#addMachine('report-7');
    await this.#hasAddress('report-7', '192.168.49.12');
    await admin.delete('VirtualMachine', 'shop/report-7');
    await this.#wake();
    await this.#isSettled();
  }

  async #addPools(): Promise<void> {
    const { admin } = this.cluster;
    for (const [name, end] of [
      ['vlan-48', '192.168.48.11'],
      ['vlan-49', '192.168.49.250'],
    ] as const) {
      await admin.create(networkAttachment(`shop/${name}`, 'mgmt'));
      const subnet = end.replace(/\.\d+$/, '');
      const range = { router: `${subnet}.1`, pool: { start: `${subnet}.10`, end } };
      const ipv4Config = { cidr: `${subnet}.0/24`, serverIP: `${subnet}.2`, ...range };
      await admin.create(ipPool(`shop/${name}`, { ipv4Config }));
      await this.#hasCondition('IPPool', `shop/${name}`, 'CacheReady=True');
    }
  }

  /** @param condition - `AgentReady=True` */
  async #hasCondition(kind: string, key: string, condition: string): Promise<void> {
    await this.cluster.admin.waitForObject(kind, key, (object) =>
      readConditions(object.status).some(({ type, status }) => `${type}=${status}` === condition),
    );
  }

  async #addMachine(name: keyof typeof MACHINES): Promise<void> {
    const [macAddress, network] = MACHINES[name];
    const object = virtualMachine(`shop/${name}`, macAddress, `shop/${network}`);
    const { running: _, ...spec } = object.spec as { readonly running: boolean };
    // Machines that run have an address to report; this one waits for a magic packet.
    const runStrategy = name === 'web-2' ? 'Manual' : 'Always';
    await this.cluster.admin.create({ ...object, spec: { ...spec, runStrategy } } as KubernetesObject);
  }

  async #hasAddress(name: keyof typeof MACHINES, address?: string): Promise<void> {
    const [macAddress, network] = MACHINES[name];
    await this.cluster.admin.waitForObject('IPPool', `shop/${network}`, ({ status }) => {
      const allocated = Object.entries((readField(status, 'ipv4', 'allocated') ?? {}) as Record<string, string>);
      return allocated.some(([at, owner]) => owner === macAddress && (address === undefined || at === address));
    });
  }

  /** As agents of bare-metal hosts write them. */
  async #addHosts(): Promise<void> {
    const { admin } = this.cluster;
    await admin.create(networkAttachment('kube-system/management', 'mgmt'));
    await waitForKind(admin, 'clusteragents');
    const dhcpServerConfig = {
      dhcpServerInterface: 'net1',
      subnet: '192.168.0.0/24',
      ipRange: '192.168.0.10-192.168.0.100',
      gateway: '192.168.0.1',
      selfIp: '192.168.0.2/24',
    };
    const [secretName, secretNamespace] = ['rack-1-redfish', 'vm-dhcp-agents'];
    const labels = { 'bmc.spidernet.io/host-credentials': 'true' };
    await admin.create({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: secretNamespace, name: secretName, labels } },
      ...{ stringData: { username: 'operator', password: 'password' } },
    });
    await admin.create({
      apiVersion: BMC,
      kind: 'ClusterAgent',
      metadata: { name: 'rack-1' },
      spec: {
        agentYaml: { underlayInterface: 'kube-system/management', replicas: 2 },
        endpoint: { secretName, secretNamespace },
        feature: { dhcpServerConfig },
      },
    } as KubernetesObject);
    for (const [last, healthy] of [
      [10, true],
      [11, false],
    ] as const) {
      const [name, ipAddr] = [`rack-1-192-168-0-${last}`, `192.168.0.${last}`];
      const basic = { type: 'dhcp', ipAddr, https: true, port: 443, mac: `02:00:5e:00:60:${last}`, activeDhcpClient: true };
      const labels = { 'bmc.spidernet.io/ipAddr': ipAddr, 'bmc.spidernet.io/mode': 'dhcp' };
      const status = { healthy, clusterAgent: 'rack-1', lastUpdateTime: new Date().toISOString(), basic, info: {} };
      await admin.create({ apiVersion: BMC, kind: 'HostStatus', metadata: { name, labels } });
      await admin.client('HostStatus').patchStatus({ key: name }, { status });
    }
    await admin.create({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: 'rack-1-192-168-0-11.1' },
      involvedObject: { apiVersion: BMC, kind: 'HostStatus', name: 'rack-1-192-168-0-11' },
      type: 'Warning',
      reason: 'HostUnhealthy',
      message: 'GET https://192.168.0.11/redfish/v1: no answer within 10 s',
      lastTimestamp: new Date().toISOString(),
    } as KubernetesObject);
    const lease = `${AGENTS}/agent-rack-1`;
    await admin.waitForObject('Lease', lease, () => true);
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'agent-rack-1-7d9c5b6f48-q8w2e_x', leaseDurationSeconds: 3_600, renewTime };
    await admin.patch('Lease', lease, { spec });
    const status = { addresses: { total: 91, used: 2, available: 89 } };
    await admin.client('ClusterAgent').patchStatus({ key: 'rack-1' }, { status });
  }

  /** A magic packet for a machine that is stopped, as an agent reports it. */
  async #wake(): Promise<void> {
    const { admin } = this.cluster;
    const spec = { discoveryMode: 'All', namespaceSelectors: ['shop'] };
    await admin.create({ apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name: 'office' }, spec });
    const [macAddress] = MACHINES['web-2'];
    let listed: ReadonlySet<string> = new Set();
    const client = new WolClient({
      manager: this.#wakeListener,
      nodeName: 'node-1',
      tlsDirectory: undefined,
      observe: () => {},
      onReachable: () => {},
      onAddresses: (addresses) => {
        listed = addresses;
      },
    });
    try {
      await client.start();
      await waitFor('the list of wakeable addresses', () => listed.has(macAddress), 60_000);
      await this.#kubevirt.untilStatus('shop/web-2', 'Stopped');
      const packet = { macAddress, nodeName: 'node-1', sender: '192.0.2.7', senderPort: 9, packetSize: 102 };
      await waitFor(
        'the answer',
        async () => (await client.report({ ...packet, heardAtMs: Date.now() })).kind === 'answered',
        60_000,
      );
      await this.#kubevirt.untilStatus('shop/web-2', 'Running');
    } finally {
      client.stop();
    }
  }

  /** What was begun has ended, and is recorded. */
  async #isSettled(): Promise<void> {
    const { admin } = this.cluster;
    for (const [name, hasRogue] of [
      ['vlan-48', 'True'],
      ['vlan-49', 'False'],
    ] as const) {
      await this.#hasCondition('IPPool', `shop/${name}`, 'AgentReady=True');
      await this.#hasCondition('IPPool', `shop/${name}`, `RogueServer=${hasRogue}`);
    }
    await this.#hasCondition('ClusterAgent', 'rack-1', 'Ready=True');
    await admin.waitForObject('WolConfig', 'office', ({ status }) => readField(status, 'agentStatus', 'numberReady') === 2);
    for (const name of ['agent-rack-1', 'vm-dhcp-agent-mgmt-1'])
      await admin.waitForObject('Deployment', `${AGENTS}/${name}`, ({ metadata, status }) => {
        const counts = ['replicas', 'updatedReplicas', 'readyReplicas'].map((field) => readField(status, field));
        return readField(status, 'observedGeneration') === metadata.generation && counts.every((count) => count === 2);
      });
    for (const name of ['web-1', 'web-3', 'cache-0', 'lost-0']) await this.#kubevirt.untilStatus(`shop/${name}`, 'Running');
    for (const ended of ['address-conflict', 'vm-deleted'])
      await waitFor(`a record that ended: ${ended}`, async () => await hasRecord(admin, 'shop/vlan-49', ended), 60_000);
    for (const reason of ['WakeUpStarted', 'RogueServer', 'NoPool', 'PoolExhausted'])
      await waitFor(`the Event ${reason}`, async () => await hasEvent(admin, reason), 60_000);
  }
}

async function hasRecord(admin: ClusterAccess, pool: string, ended: string): Promise<boolean> {
  const { logs } = readStoredAudit((await admin.list('ConfigMap')).filter(({ metadata }) => metadata.namespace === AGENTS));
  return [...(logs.get(pool)?.records.values() ?? [])].some(({ end }) => end?.reason === ended);
}

async function hasEvent(admin: ClusterAccess, reason: string): Promise<boolean> {
  return (await admin.list('Event')).some((event) => readText(event, 'reason') === reason);
}

async function waitForKind(admin: ClusterAccess, plural: string): Promise<void> {
  const path = `/apis/${BMC}/${plural}`;
  await waitFor(`${plural} to be served`, async () => {
    const answer = await admin.connection.request({ method: 'GET', path }).catch(() => undefined);
    return answer !== undefined;
  });
}

function isAgent({ metadata }: Pod): boolean {
  return metadata.labels?.['network.harvesterhci.io/agent-group'] !== undefined;
}

/** ConfigMaps of a controller that ran in the week before. */
function recordsOfBefore(): readonly KubernetesObject[] {
  const record = parseRecord({
    serial: 1,
    address: '192.168.48.11',
    macAddress: '02:00:5e:00:48:09',
    virtualMachine: 'shop/web-0',
    uid: '6f1c2a74-7d0e-4f0e-9a51-6b1d0c3f1a11',
    interface: 'default',
    network: 'shop/vlan-48',
    from: '2026-11-12T08:14:09Z',
    began: 'assigned',
    to: '2026-11-19T16:40:31Z',
    ended: 'vm-deleted',
  });
  const text = formatBatch({
    records: record === undefined ? [] : [record],
    completeFromMs: parseTime('2026-11-02T09:00:00Z'),
  });
  const state = formatAuditState({ completeUntilMs: parseTime('2026-11-20T00:00:00Z'), gaps: [] });
  const labels = { [AUDIT_LABEL]: 'true' };
  const configMap = (name: string, data: Readonly<Record<string, string>>) =>
    ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: AGENTS, name, labels }, data }) as KubernetesObject;
  return [
    configMap(AUDIT_STATE_NAME, { state }),
    configMap(AUDIT_SLOT_NAMES[0] ?? '', { '000000000001': `${JSON.stringify({ pool: 'shop/vlan-48' })}\n${text}` }),
  ];
}
