/**
 * The cluster of the story of Wake-on-LAN: nodes on one network with a computer outside the cluster, a stand-in for KubeVirt, our
 * controller and agents.
 */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import {
  API_HOST,
  CONTROLLER_BIN,
  freePort,
  isInstalled,
  KubeVirt,
  type Lab,
  LabCluster,
  type LabProcess,
  type Machine,
  type NodePod,
  runAgent,
  waitFor,
} from '@vmdhcp/lab';
import { type LogRecord, parseLogLine } from './log-record.js';

export const NODES = ['node-1', 'node-2', 'node-3'];
const NAMESPACE = 'vm-dhcp-system';
const LAN = 'br-lan';
/** On which the first DaemonSet of a cluster has its metrics. */
const AGENT_HTTP_PORT = 18_420;
const AGENT_TIMEOUT_MS = 60_000;

export interface SleepingMachine {
  /** `namespace/name` */
  readonly key: string;
  readonly macAddress: string;
  readonly runStrategy: 'Halted' | 'Manual';
}

/** A line of an agent's log. */
export interface AgentLine {
  readonly node: string;
  readonly record: LogRecord;
}

export interface WakeOnLanClusterSettings {
  readonly lab: Lab;
  readonly onAgentLine: (line: AgentLine) => void;
  readonly onControllerLine: (line: string) => void;
  readonly atEnd: (end: () => Promise<void>) => void;
}

export class WakeOnLanCluster {
  readonly cluster: LabCluster;
  readonly kubevirt: KubeVirt;
  readonly #computer: Machine;
  readonly #settings: WakeOnLanClusterSettings;
  readonly #lines: AgentLine[];

  private constructor(
    parts: Pick<WakeOnLanCluster, 'cluster' | 'kubevirt'>,
    settings: WakeOnLanClusterSettings,
    { computer, lines }: { readonly computer: Machine; readonly lines: AgentLine[] },
  ) {
    this.cluster = parts.cluster;
    this.kubevirt = parts.kubevirt;
    this.#settings = settings;
    this.#computer = computer;
    this.#lines = lines;
  }

  static async start(settings: WakeOnLanClusterSettings): Promise<WakeOnLanCluster> {
    const { lab, onAgentLine, atEnd } = settings;
    const computer = addComputer(lab);
    const lines: AgentLine[] = [];
    const started: { cluster?: LabCluster } = {};
    const cluster = await LabCluster.start(lab, {
      networks: {},
      nodes: NODES,
      nodeCards: { eth1: LAN },
      hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
      onLine: (pod, text) => {
        const record = parseLogLine(text);
        const node = started.cluster?.nodePods.get(pod)?.node.machine.name;
        if (record === undefined || node === undefined) return;
        lines.push({ node, record });
        onAgentLine({ node, record });
      },
    });
    started.cluster = cluster;
    atEnd(() => cluster.stop());
    for (const [index, { machine }] of [...cluster.nodes.values()].entries())
      machine.ip('address', 'add', `192.168.77.${index + 2}/24`, 'dev', 'eth1');
    const kubevirt = await KubeVirt.start(cluster.simulator);
    atEnd(() => kubevirt.stop());
    return new WakeOnLanCluster({ cluster, kubevirt }, settings, { computer, lines });
  }

  /** Creates a machine that does not run. */
  async addMachine({ key, macAddress, runStrategy }: SleepingMachine): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const devices = { interfaces: [{ name: 'default', macAddress, bridge: {} }] };
    const template = { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } };
    const { access } = this.cluster;
    await access.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await access.apply({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { namespace, name },
      spec: { runStrategy, template },
    } as KubernetesObject);
    await this.kubevirt.untilStatus(key, 'Stopped');
  }

  /** Resolves when it decides about wake-ups. */
  async startController(): Promise<LabProcess> {
    const { lab, onControllerLine } = this.#settings;
    const http = `${API_HOST}:${await freePort()}`;
    const flags = ['--kubeconfig', this.cluster.kubeconfigPath, '--image', 'vmdhcp-agent:demo', '--namespace', NAMESPACE];
    const started = lab.start(
      process.execPath,
      [CONTROLLER_BIN, 'run', '--wake-on-lan', '--no-agent', ...flags, '--http', http],
      { env: { POD_IP: API_HOST, POD_NAMESPACE: NAMESPACE }, onLine: onControllerLine },
    );
    await started.line('deciding about wake-ups', AGENT_TIMEOUT_MS);
    return started;
  }

  /** Sends a magic packet from the computer, by etherwake where it is installed. @param onCommand - called with the command before it runs. */
  async send({ macAddress }: SleepingMachine, onCommand: (command: string) => void): Promise<void> {
    const isReal = isInstalled('etherwake');
    const parameters = isReal ? ['-b', '-i', 'eth0', macAddress] : ['wake', macAddress, '--interface', 'eth0'];
    const command = `${isReal ? 'etherwake' : 'vmdhcp-agent'} ${parameters.join(' ')}`;
    onCommand(command);
    const { code } = isReal
      ? await this.#computer.start('etherwake', parameters).ended()
      : await runAgent(this.#computer, ...parameters);
    if (code !== 0) throw new Error(`${command} ended with exit code ${code}`);
  }

  /** Resolves when each agent has had so many lines with this event about the machine. */
  async untilLogged(machine: SleepingMachine, event: string, timesEach = 1): Promise<void> {
    const isLogged = (node: string) => this.#linesOf(machine, event).filter((line) => line.node === node).length >= timesEach;
    await waitFor(`${event} of ${machine.key} at all nodes`, () => NODES.every(isLogged), AGENT_TIMEOUT_MS);
  }

  /** When the first agent heard the first packet for the machine, in milliseconds since 1970. */
  firstHeardAtMs(machine: SleepingMachine): number {
    return Math.min(...this.#linesOf(machine, 'wake-up').map(({ record }) => Date.parse(record['time'] ?? '')));
  }

  /** How many packets the agent of each node ignored for this reason, once there is one. */
  async untilIgnored(reason: string): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { node } of this.#agents()) {
      const { name } = node.machine;
      const url = `http://${node.address}:${AGENT_HTTP_PORT}/metrics`;
      counts.set(name, await waitFor(`${name} to ignore a packet: ${reason}`, () => readOutcome(url, reason)));
    }
    return counts;
  }

  #agents(): readonly NodePod[] {
    return [...this.cluster.nodePods.values()].toSorted((one, other) =>
      one.node.machine.name.localeCompare(other.node.machine.name),
    );
  }

  #linesOf({ macAddress }: SleepingMachine, event: string): readonly AgentLine[] {
    return this.#lines.filter(({ record }) => record['macAddress'] === macAddress && record['event'] === event);
  }
}

function addComputer(lab: Lab): Machine {
  lab.addNetwork(LAN);
  const computer = lab.addMachine('computer', { network: LAN, macAddress: '02:00:00:00:77:50' });
  computer.ip('address', 'add', '192.168.77.50/24', 'dev', 'eth0');
  return computer;
}

/** Undefined: none yet. */
async function readOutcome(url: string, outcome: string): Promise<number | undefined> {
  const page = await (await fetch(url)).text();
  const [, count] = new RegExp(`^vmdhcp_agent_wol_packets_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(page) ?? [];
  return count === undefined ? undefined : Number(count);
}
