/** Bare-metal hosts on a management network, and two agents of a ClusterAgent, which lease addresses to whoever asks. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type ClientHabits, DhcpClient } from '../guests/dhcp-client.js';
import { type Captured, Segment } from '../network/segment.js';
import { Disk } from './disk.js';
import { CLUSTER_AGENT, INTERFACE, RackAgent, type RackSurroundings } from './rack-agent.js';

export const SELF = '10.9.0.2';
const LEASE_SECONDS = 600;
const RESTART_MS = 2_000;
/** More than there are hosts: nobody is refused for lack of addresses. */
const RANGE = '10.9.0.10-10.9.0.109';

/** The object that its agents follow. */
export const RACK_OBJECT = {
  apiVersion: 'bmc.spidernet.io/v1beta1',
  kind: 'ClusterAgent',
  metadata: { name: CLUSTER_AGENT },
  spec: {
    agentYaml: { underlayInterface: 'default/rack' },
    feature: {
      dhcpServerConfig: {
        ...{ dhcpServerInterface: INTERFACE, subnet: '10.9.0.0/24', ipRange: RANGE },
        ...{ gateway: '10.9.0.1', selfIp: `${SELF}/24`, leaseTime: LEASE_SECONDS },
      },
    },
  },
} as unknown as KubernetesObject;

export class Rack {
  readonly segment: Segment;
  /** Undefined if leases are in LeaseSlices. */
  readonly disk: Disk | undefined;
  /** All runs so far. */
  readonly agents: RackAgent[] = [];
  readonly hosts: DhcpClient[] = [];
  /** The disk is copied; what it returns is called when the copy is restored. */
  onDiskCopied: () => () => void = () => () => undefined;
  readonly #surroundings: RackSurroundings;
  readonly #running: (RackAgent | undefined)[] = [];
  #locked: RackAgent | undefined;

  constructor(surroundings: RackSurroundings, hasDisk: boolean, onCaptured: (captured: Captured) => void) {
    this.#surroundings = surroundings;
    const { scheduler, random } = surroundings;
    this.disk = hasDisk ? new Disk(scheduler, random) : undefined;
    const relay = { address: '10.9.0.1', server: SELF };
    this.segment = new Segment({ scheduler, random, name: CLUSTER_AGENT, relay, onCaptured, onWire: (octets) => octets });
  }

  get running(): readonly RackAgent[] {
    return this.#running.filter((agent) => agent !== undefined);
  }

  start(nodes: readonly string[]): void {
    for (const index of [0, 1]) this.#start(index, nodes[index] ?? '');
  }

  /** Kills an agent, and starts its container again. */
  restart(agent: RackAgent, afterMs = RESTART_MS): void {
    const index = this.#running.indexOf(agent);
    if (index < 0) return;
    agent.kill();
    this.#running[index] = undefined;
    this.#surroundings.scheduler.after(afterMs, () => this.#start(index, agent.node));
  }

  /** The node of the agent loses its power, and with it the disk what was not flushed. */
  losePower(agent: RackAgent, afterMs: number): void {
    const hadDisk = this.#locked === agent;
    this.restart(agent, afterMs);
    agent.kernel.removeLink(INTERFACE);
    if (hadDisk) this.disk?.losePower();
  }

  /** Copies the disk. Returns what restores the copy, while the agent that uses the disk is off; undefined if there is no disk. */
  copyDisk(): (() => void) | undefined {
    const restoreDisk = this.disk?.copy();
    if (restoreDisk === undefined) return undefined;
    const onRestored = this.onDiskCopied();
    return () => {
      if (this.#locked !== undefined) this.restart(this.#locked);
      restoreDisk();
      onRestored();
    };
  }

  /** Switches a new host on. */
  addHost(macAddress: string, habits: Pick<ClientHabits, 'remembersLease' | 'releasesAtEnd' | 'probes'>): DhcpClient {
    const { scheduler, random } = this.#surroundings;
    const own = { clientIdentifier: undefined, ignoresNak: false, isBehindRelay: false, ...habits };
    const host = new DhcpClient({ scheduler, random, segment: this.segment, macAddress, node: () => 'rack', habits: own });
    this.hosts.push(host);
    host.start();
    return host;
  }

  stop(): void {
    for (const agent of this.running) agent.kill();
  }

  #start(index: number, node: string): void {
    const { segment, disk } = this;
    const agent = new RackAgent({
      ...this.#surroundings,
      ...{ node, segment, disk },
      lock: (one) => {
        if (this.#locked !== undefined && this.#locked !== one) return false;
        this.#locked = one;
        return true;
      },
      unlock: (one) => {
        if (this.#locked === one) this.#locked = undefined;
      },
    });
    this.agents.push(agent);
    this.#running[index] = agent;
  }
}
