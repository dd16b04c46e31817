/** The cluster of the story of bare-metal hosts: our controller, agents on a network of management controllers, and hosts there that the cluster does not know. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { AGENT_BIN, AGENT_NAMESPACE, installedForBareMetal, type Lab, LabCluster, type LabPod, waitFor } from '@vmdhcp/lab';
import {
  BareMetalHost,
  CERTIFICATE_NAME,
  type Certificates,
  CREDENTIALS,
  issueCertificates,
  REDFISH_PORT,
} from './bare-metal-host.js';

const LAN = 'br-rack';
const CLUSTER_AGENT = 'rack';
/** The name of the Deployment and the Lease of the agents. */
export const AGENTS = `agent-${CLUSTER_AGENT}`;
/** The address of the DHCP server, on the leader. */
export const SERVER = '192.168.60.2';
const INTERFACE = 'net1';
const SECRET = 'rack-bmc';
const POLL_SECONDS = 1;
const START_TIMEOUT_MS = 60_000;
const TAKE_OVER_TIMEOUT_MS = 60_000;

export const CLUSTER_AGENT_OBJECT = {
  apiVersion: 'bmc.spidernet.io/v1beta1',
  kind: 'ClusterAgent',
  metadata: { name: CLUSTER_AGENT },
  spec: {
    agentYaml: { underlayInterface: `${AGENT_NAMESPACE}/${CLUSTER_AGENT}`, replicas: 2 },
    endpoint: { port: REDFISH_PORT, https: true, secretName: SECRET, secretNamespace: AGENT_NAMESPACE },
    feature: {
      dhcpServerConfig: {
        dhcpServerInterface: INTERFACE,
        subnet: '192.168.60.0/24',
        ipRange: '192.168.60.10-192.168.60.12',
        gateway: '192.168.60.1',
        selfIp: `${SERVER}/24`,
      },
    },
  },
};

export interface BareMetalClusterSettings {
  readonly lab: Lab;
  readonly onAgentLine: (pod: string, line: string) => void;
  readonly onControllerLine: (line: string) => void;
  readonly atEnd: (end: () => Promise<void>) => void;
}

export class BareMetalCluster {
  readonly cluster: LabCluster;
  readonly #settings: BareMetalClusterSettings;
  readonly #certificates: Certificates;
  #hosts = 0;

  private constructor(cluster: LabCluster, settings: BareMetalClusterSettings, certificates: Certificates) {
    this.cluster = cluster;
    this.#settings = settings;
    this.#certificates = certificates;
  }

  static async start(settings: BareMetalClusterSettings): Promise<BareMetalCluster> {
    const { lab, onAgentLine, onControllerLine, atEnd } = settings;
    lab.addNetwork(LAN);
    const cluster = await LabCluster.start(lab, {
      networks: { [`${AGENT_NAMESPACE}/${CLUSTER_AGENT}`]: LAN },
      isInstalled: false,
      onLine: (who, line) => (who === 'controller' ? onControllerLine(line) : onAgentLine(who, line)),
    });
    atEnd(() => cluster.stop());
    await cluster.access.applyAll(installedForBareMetal());
    return new BareMetalCluster(cluster, settings, await issueCertificates());
  }

  /** Resolves when it is leader, and has defined the kinds. */
  async startController(): Promise<void> {
    const { process: started } = await this.cluster.startController(
      ...['--bare-metal', '--bare-metal-status-seconds', String(POLL_SECONDS)],
    );
    await started.line('ClusterAgents and hosts listed; reconciling', START_TIMEOUT_MS);
  }

  /** The Secret by which agents identify themselves to management controllers, and know them. */
  async createSecret(): Promise<void> {
    const { username, password } = CREDENTIALS;
    const data = { username, password, 'ca.crt': this.#certificates.authority, 'tls-server-name': CERTIFICATE_NAME };
    await this.cluster.access.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: AGENT_NAMESPACE, name: SECRET, labels: { 'bmc.spidernet.io/host-credentials': 'true' } },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    } as KubernetesObject);
  }

  /** A host that is off, on the network of the agents. */
  addHost(): BareMetalHost {
    const number = ++this.#hosts;
    const machine = this.#settings.lab.addMachine(`host-${number}`, { network: LAN, macAddress: `02:00:5e:00:60:0${number}` });
    return new BareMetalHost(machine, this.#certificates);
  }

  /** The replica that has the address of the DHCP server. @param not - a replica that is gone. */
  async leader(not?: LabPod): Promise<LabPod> {
    return await waitFor(
      'a leader of the agents',
      async () => {
        const leader = await this.cluster.leader(AGENTS);
        return leader !== undefined && leader !== not && hasServerAddress(leader) ? leader : undefined;
      },
      TAKE_OVER_TIMEOUT_MS,
    );
  }

  /** The HostStatus of an address, once it is so. */
  async hostStatus(address: string, isSo: (object: KubernetesObject) => boolean = () => true): Promise<KubernetesObject> {
    return await this.cluster.access.waitForObject('HostStatus', `${CLUSTER_AGENT}-${address.replaceAll('.', '-')}`, isSo);
  }

  /** Runs `vmdhcp-agent` as an administrator. @returns what it printed. @throws Error where it fails. */
  async agentCommand(...words: readonly string[]): Promise<string> {
    const { lab } = this.#settings;
    const started = lab.start(process.execPath, [AGENT_BIN, ...words, '--kubeconfig', this.cluster.kubeconfigPath]);
    const { code } = await started.ended();
    const output = started.lines.join('\n');
    if (code !== 0) throw new Error(`vmdhcp-agent ${words.join(' ')} ended with exit code ${code}: ${output}`);
    return output;
  }
}

function hasServerAddress({ machine }: LabPod): boolean {
  try {
    return machine.addresses(INTERFACE).some((address) => address.startsWith(`${SERVER}/`));
  } catch {
    // A pod that has ended meanwhile.
    return false;
  }
}
