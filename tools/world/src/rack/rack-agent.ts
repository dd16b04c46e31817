/** One run of an agent of a ClusterAgent: the real one, with leases in a file on a simulated disk, or in LeaseSlices. */
import { randomUUID } from 'node:crypto';
import { HostsMachine, type HostsPorts, openApiLeases } from '@vmdhcp/bare-metal/linux';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import { ApiGroupLease } from '@vmdhcp/dhcp-agent/node';
import { FakeKernel, FakeProcess, RecordingObserver } from '@vmdhcp/dhcp-agent/testing';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import { OpenLeases, openFileRecords } from '@vmdhcp/lease-stores';
import { type ApiLink, Transport } from '../api/transport.js';
import type { Segment } from '../network/segment.js';
import type { PlantedFault } from '../planted-faults.js';
import type { Scheduler } from '../time/scheduler.js';
import { EPOCH_MS } from '../time/virtual-process.js';
import type { Disk } from './disk.js';

export const CLUSTER_AGENT = 'rack';
export const INTERFACE = 'net1';
const TIMEOUT_MS = 30_000;
const FOLDER = '/state';
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

/** The surroundings of a rack in a world. */
export interface RackSurroundings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly simulator: KubeSimulator;
  readonly linkOf: (node: string) => ApiLink;
  readonly fault: PlantedFault | undefined;
  /** Where the agents have their Lease. */
  readonly namespace: string;
}

export interface RackAgentSettings extends RackSurroundings {
  readonly node: string;
  readonly segment: Segment;
  /** Undefined if leases are in LeaseSlices. */
  readonly disk: Disk | undefined;
  /** Takes the lock of the folder; false if another process has it. */
  readonly lock: (agent: RackAgent) => boolean;
  readonly unlock: (agent: RackAgent) => void;
}

export class RackAgent {
  readonly owner = `rack-agent_${randomUUID()}`;
  readonly node: string;
  readonly process: FakeProcess;
  readonly kernel: FakeKernel;
  readonly #settings: RackAgentSettings;
  readonly #machine: HostsMachine;

  constructor(settings: RackAgentSettings) {
    this.#settings = settings;
    this.node = settings.node;
    const { scheduler, segment, random } = settings;
    this.process = new FakeProcess(scheduler);
    this.kernel = new FakeKernel({ owner: this.owner, process: this.process, random: () => random(1_000) / 1_000 });
    this.kernel.addLink(INTERFACE);
    const network = segment.portOf(this.node, () => this);
    segment.attach(this, this.node, network);
    const election = electionTimes(2.75);
    this.#machine = new HostsMachine(
      { clusterAgentName: CLUSTER_AGENT, identity: this.owner, election, isAlone: false },
      this.#ports(network.socketsOf(this), election.renewDeadlineMs * 0.6),
    );
    this.#machine.start();
  }

  isLeader(): boolean {
    return !this.process.isDead && this.#machine.isLeader();
  }

  /** SIGKILL: its address stays on the interface until its lifetime ends. */
  kill(): void {
    const { segment, unlock } = this.#settings;
    this.process.kill();
    segment.detach(this);
    unlock(this);
  }

  #ports(sockets: HostsPorts['sockets'], leaseTimeoutMs: number): HostsPorts {
    const { scheduler, random, segment, namespace, fault } = this.#settings;
    const chance = () => random(1_000_000) / 1_000_000;
    const transport = this.#transport(TIMEOUT_MS);
    return {
      logger: SILENT as never,
      clock: this.process,
      nowMs: () => EPOCH_MS + this.process.timeMs,
      random: chance,
      observer: new RecordingObserver(),
      packetLog: { isActive: false, note: () => undefined },
      sockets,
      probeAddress: async (_, { address, macAddress }) => {
        const found = await this.process.settled(segment.usersOf(this.node, formatIpv4Address(address)));
        const users = fault?.isRackBlind === true ? [] : found;
        return { byClient: users.some((user) => user === macAddress), others: users.filter((user) => user !== macAddress) };
      },
      probeServers: () => this.process.settled(Promise.resolve([])),
      mayProbe: true,
      onBurst: () => undefined,
      addresses: this.kernel,
      links: { indexOf: this.kernel.indexOf, isUp: () => true, list: () => [] },
      lease: new ApiGroupLease({
        ...{ election: this.#transport(leaseTimeoutMs), watching: transport, random: chance },
        ...{ namespace, name: CLUSTER_AGENT, clock: this.process },
        wallTimeMs: () => EPOCH_MS + scheduler.nowMs(),
      }),
      caches: new SharedCaches({
        open: (resource: ApiResource) => new ApiObjectClient<KubernetesObject>(transport, resource),
        clock: this.process,
        backOff: { firstMs: 100, mostMs: 30_000, random: chance },
      }),
      clusterAgents: new ApiObjectClient<KubernetesObject>(transport, Resource.clusterAgents),
      events: { record: () => undefined },
      neededFor: () => undefined,
      openLeases: () => {
        const { disk } = this.#settings;
        return disk === undefined ? this.#openApiLeases(transport) : this.#openDiskLeases(disk);
      },
      createInventory: ({ onBindings }) => ({
        start: () => onBindings({ bindings: [], keptOut: [], releases: [], problems: [] }),
        leasesChanged: () => undefined,
        stop: async () => undefined,
      }),
    };
  }

  #openApiLeases(transport: ApiTransport): ReturnType<HostsPorts['openLeases']> {
    const { namespace, random, fault } = this.#settings;
    return openApiLeases({
      ...{
        connection: fault?.leaseSlices?.(transport) ?? transport,
        namespace,
        clusterAgent: CLUSTER_AGENT,
        replica: this.owner,
      },
      ...{ logger: SILENT, clock: this.process, random: () => random(1_000_000) / 1_000_000, onRecorded: () => undefined },
      nowMs: () => EPOCH_MS + this.process.timeMs,
      mayWrite: () => this.isLeader(),
    });
  }

  async #openDiskLeases(disk: Disk): ReturnType<HostsPorts['openLeases']> {
    const { lock, unlock, fault } = this.#settings;
    await this.process.settled(Promise.resolve());
    if (!lock(this)) throw new Error(`another process uses ${FOLDER}`);
    const nowMs = () => EPOCH_MS + this.process.timeMs;
    const open = new OpenLeases({
      logger: SILENT,
      clock: this.process,
      nowMs,
      hasRecords: () => true,
      openRecords: async () => {
        const opened = await openFileRecords({ folder: FOLDER, nowMs }, disk.filesOf(this.process));
        return fault?.leases?.(opened) ?? opened;
      },
      onRecorded: () => undefined,
    });
    try {
      await open.prepare([]);
    } catch (error) {
      unlock(this);
      throw error;
    }
    return {
      open,
      close: async () => {
        await open.close();
        unlock(this);
      },
    };
  }

  #transport(timeoutMs: number): Transport {
    const { scheduler, simulator, linkOf } = this.#settings;
    const { process, node } = this;
    const token = () => simulator.adminToken;
    return new Transport({ scheduler, simulator, link: linkOf(node), process, token, userAgent: 'vmdhcp-agent', timeoutMs });
  }
}
