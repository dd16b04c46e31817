/** Controllers with Wake-on-LAN as processes, what they decide about, and agents that report to them over TLS; KubeVirt is a stand-in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { DeliveryOutcome, WakeAnswer } from '@vmdhcp/wake-on-lan';
import { WolClient } from '@vmdhcp/wake-on-lan/service';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import { KubeVirt } from './kubevirt/kubevirt.js';
import { LabProcess } from './lab-process.js';
import { PrivateCluster } from './private-cluster.js';
import { CONTROLLER_BIN } from './programs.js';

const AGENTS = 'wol-agents';
/** A leader that is killed is replaced after twelve seconds; a busy machine makes none look lost, which would end it. */
const ELECTION = {
  CATTLE_ELECTION_LEASE_DURATION: '12s',
  CATTLE_ELECTION_RENEW_DEADLINE: '10s',
  CATTLE_ELECTION_RETRY_PERIOD: '250ms',
};

/** A controller that listens for agents. */
export interface WakeManager {
  readonly process: LabProcess;
  /** host:port for agents. */
  readonly address: string;
  /** host:port of its status. */
  readonly http: string;
}

export interface WakeReporter {
  readonly client: WolClient;
  readonly addresses: () => ReadonlySet<string>;
  readonly report: (mac: string) => Promise<DeliveryOutcome>;
  /** As the queue of an agent does: until a manager has answered. */
  readonly deliver: (mac: string) => Promise<WakeAnswer>;
}

/** A virtual machine with one address. */
export interface MachineToWake {
  /** `namespace/name` */
  readonly key: string;
  readonly mac: string;
}

export class WakeManagers {
  /** The authority of the certificates, and the certificate of the agents, as `namespace/name`. */
  static readonly authoritySecret = `${AGENTS}/vmdhcp-wake-on-lan-ca`;
  static readonly agentSecret = `${AGENTS}/vmdhcp-wake-on-lan-agent-tls`;
  readonly cluster: PrivateCluster;
  readonly kubevirt: KubeVirt;
  readonly #folder = mkdtempSync(join(tmpdir(), 'vmdhcp-wake-on-lan-'));
  #count = 0;
  #opened: (() => void | Promise<void>)[] = [];

  private constructor(cluster: PrivateCluster, kubevirt: KubeVirt) {
    this.cluster = cluster;
    this.kubevirt = kubevirt;
  }

  /** A cluster with the namespaces `allowed` and `other`, and no controller. */
  static async start(): Promise<WakeManagers> {
    const cluster = await PrivateCluster.start(['crds.yaml']);
    for (const name of [AGENTS, 'allowed', 'other'])
      await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new WakeManagers(cluster, await KubeVirt.start(cluster.simulator));
  }

  /** To be undone by `endOpened`. */
  atEnd(end: () => void | Promise<void>): void {
    this.#opened.push(end);
  }

  /** Ends controllers and agents, and deletes WolConfigs. */
  async endOpened(): Promise<void> {
    const opened = this.#opened.reverse();
    this.#opened = [];
    for (const end of opened) await end();
  }

  async stop(): Promise<void> {
    await this.kubevirt.stop();
    await this.cluster.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** A controller that takes part in the election, as a process. */
  async run(listen: string, ...parameters: readonly string[]): Promise<WakeManager> {
    const http = `127.0.0.1:${await freePort()}`;
    const flags = ['--no-agent', '--image', 'agent:test', '--namespace', AGENTS, '--http', http, ...parameters];
    const process_ = new LabProcess(
      process.execPath,
      [
        ...[CONTROLLER_BIN, 'run', '--kubeconfig', this.cluster.adminKubeconfig],
        ...['--wake-on-lan', '--wake-on-lan-listen', listen, ...flags],
      ],
      { env: { ...ELECTION, POD_IP: '127.0.0.1', POD_NAMESPACE: 'vmdhcp' } },
    );
    this.atEnd(() => process_.stop());
    return { process: process_, address: listen, http };
  }

  /** The same, once it listens for agents. */
  async startManager(...parameters: readonly string[]): Promise<WakeManager> {
    const manager = await this.run(`127.0.0.1:${await freePort()}`, ...parameters);
    await manager.process.line('listening for reports of Wake-on-LAN agents');
    return manager;
  }

  leads({ process: started }: WakeManager): Promise<unknown> {
    return started.line('deciding about wake-ups');
  }

  /** A WolConfig until `endOpened`. @returns its name. */
  async allow(namespace: string, more: object = {}): Promise<string> {
    const name = `config-${++this.#count}`;
    const spec = { discoveryMode: 'All', namespaceSelectors: [namespace], ...more };
    await this.cluster.admin.create({ apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name }, spec });
    this.atEnd(() => this.cluster.admin.delete('WolConfig', name).then(() => undefined));
    return name;
  }

  /** A new machine. @param mac - default: one of its own. */
  async machine(namespace: string, runStrategy = 'Manual', mac?: string): Promise<MachineToWake> {
    const name = `vm-${++this.#count}`;
    const macAddress = mac ?? `02:00:00:00:${hex(this.#count >> 8)}:${hex(this.#count & 255)}`;
    const devices = { interfaces: [{ name: 'default', macAddress, bridge: {} }] };
    await this.cluster.admin.create({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { namespace, name },
      spec: { runStrategy, template: { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } } },
    } as KubernetesObject);
    return { key: `${namespace}/${name}`, mac: macAddress };
  }

  /** Does what a user does with `virtctl`. */
  async put(key: string, subresource: string, resource = 'virtualmachines'): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${resource}/${name}/${subresource}`;
    await this.cluster.admin.connection.request({ method: 'PUT', path, body: {} });
  }

  /** The folder with the certificate that kubelet mounts into agents. */
  async mountedCertificate(): Promise<string> {
    const secret = await waitFor('the Secret of the agents', () => this.cluster.admin.get('Secret', WakeManagers.agentSecret));
    const read = (name: string) => Buffer.from(readText(secret, 'data', name) ?? '', 'base64').toString();
    return this.mount({ 'tls.crt': read('tls.crt'), 'tls.key': read('tls.key'), 'ca.crt': read('ca.crt') });
  }

  /** @returns the folder with these files. */
  mount(files: Readonly<Record<string, string>>): string {
    const path = mkdtempSync(join(this.#folder, 'tls-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    return path;
  }

  async startAgent(nodeName: string, manager: string, tlsDirectory: string): Promise<WakeReporter> {
    let addresses: ReadonlySet<string> = new Set();
    const onAddresses = (now: ReadonlySet<string>) => {
      addresses = now;
    };
    const client = new WolClient({ manager, nodeName, tlsDirectory, observe: () => {}, onReachable: () => {}, onAddresses });
    this.atEnd(() => client.stop());
    await client.start();
    const report = (macAddress: string) =>
      client.report({ macAddress, nodeName, sender: '192.0.2.7', senderPort: 9, packetSize: 102, heardAtMs: Date.now() });
    const deliver = (mac: string) =>
      waitFor(`an answer for ${mac}`, async () => {
        const outcome = await report(mac);
        return outcome.kind === 'answered' ? outcome.answer : undefined;
      });
    return { client, addresses: () => addresses, report, deliver };
  }

  /** Reasons of the Events of a machine that are about wake-ups. */
  async eventsOf(key: string): Promise<readonly string[]> {
    const events = await this.cluster.admin.list('Event');
    const [namespace, name] = key.split('/');
    return events
      .filter((event) => readText(event, 'involvedObject', 'name') === name && event.metadata.namespace === namespace)
      .map((event) => readText(event, 'reason') ?? '')
      .filter((reason) => reason.startsWith('WakeUp'));
  }
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
