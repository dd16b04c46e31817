import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import type { Clock, KubernetesObject, ResourcePort } from '@vmdhcp/kube-runtime';
import { DhcpAgent, type DhcpAgentSettings } from '../agent/dhcp-agent.js';
import { electionTimes } from '../leadership/leadership-times.js';
import type { AddressUse, AgentPorts, FoundServer, HeardAddress, PacketLogPort } from '../ports.js';
import { AgentTraffic } from '../traffic/agent-traffic.js';
import type { FakeGroupLease, RequestFate } from './fake-group-lease.js';
import { FakeKernel } from './fake-kernel.js';
import type { FakeNetwork } from './fake-network.js';
import { FakeProcess } from './fake-process.js';
import { RecordingObserver } from './recording-observer.js';

const LOST_WATCH_MS = 500;
const REFUSED_MS = 1_000;

/** An agent in a test: its clock, its Lease, its networks and its pools. */
export interface FakePodSettings extends Partial<Omit<DhcpAgentSettings, 'configs' | 'identity'>> {
  /** Unique to this run of this pod. */
  readonly identity: string;
  /** Shared by all pods. */
  readonly clock: Clock;
  /** The connection to the Lease of its group. */
  readonly lease: Pick<FakeGroupLease, 'reachedBy'>;
  readonly configs: readonly AgentNetworkConfig[];
  /** By interface. */
  readonly networks: ReadonlyMap<string, FakeNetwork>;
  /** By `namespace/name`: where the IPPool is. */
  readonly poolSource: (poolKey: string) => ResourcePort<KubernetesObject>;
  /** 0 up to, not including, 1. Default: 0. */
  readonly random?: () => number;
  /** Default: none. */
  readonly packetLog?: PacketLogPort;
}

/** A pod with an agent: its process, its kernel, its connection to the API server, and faults for each. */
export class FakePod {
  readonly owner: string;
  /** The Lease of its group. */
  readonly lease: Pick<FakeGroupLease, 'reachedBy'>;
  readonly process: FakeProcess;
  readonly kernel: FakeKernel;
  readonly observer = new RecordingObserver();
  /** The notes on its clients. */
  readonly traffic: AgentTraffic;
  readonly agent: DhcpAgent;
  /** True while the pod is cut off from the API server. */
  isCutOff = false;
  /** Called for each request about the Lease. */
  fate: () => RequestFate = () => ({ thereMs: 2, backMs: 2 });
  watchLagMs: () => number = () => 2;
  /** The offset of the wall clock from the monotonic one. */
  wallOffsetMs = 1_700_000_000_000;
  /** The result of ARP probes. Default: no host uses the address. */
  addressUse: (interfaceName: string, address: number, macAddress: MacAddress) => Promise<AddressUse> = async () => ({
    byClient: false,
    others: [],
  });
  /** What is heard by ARP on an interface; taken by the agent that listens. */
  readonly heard = new Map<string, HeardAddress[]>();
  /** Other DHCP servers on the network of an interface. */
  servers: (interfaceName: string) => Promise<readonly FoundServer[]> = async () => [];
  /** Why an interface is not isolated. */
  isolationProblem: (interfaceName: string) => string | undefined = () => undefined;
  /** Why the pod itself needs an address. */
  neededFor: AgentPorts['neededFor'] = () => undefined;
  /** Names that the agent wants to look up. */
  wantedNames: ReadonlySet<string> = new Set();
  readonly #names = new Map<string, readonly string[]>();
  #onNames: () => void = () => undefined;
  readonly #settings: FakePodSettings;

  constructor(settings: FakePodSettings) {
    this.#settings = settings;
    const { identity, clock, random = () => 0, configs } = settings;
    this.owner = identity;
    this.lease = settings.lease;
    this.process = new FakeProcess(clock);
    this.kernel = new FakeKernel({ owner: identity, process: this.process, random });
    for (const { interfaceName } of configs) this.kernel.addLink(interfaceName);
    const nowMs = () => clock.nowMs() + this.wallOffsetMs;
    this.traffic = new AgentTraffic({ nowMs, random, sizes: { declared: 64, leased: 8, unknown: 8 } });
    const { election = electionTimes(2.75), isAlone = false, isDryRun = false } = settings;
    this.agent = new DhcpAgent({ configs, identity, election, isAlone, isDryRun }, this.#ports(random, election));
  }

  /** Completes the lookup of a name with these addresses. */
  resolve(name: string, addresses: readonly string[]): void {
    this.#names.set(name, addresses);
    this.#onNames();
  }

  #ports(random: () => number, { renewDeadlineMs }: DhcpAgentSettings['election']): AgentPorts {
    const { clock, lease, poolSource, packetLog } = this.#settings;
    return {
      clock: this.process,
      wallTimeMs: () => clock.nowMs() + this.wallOffsetMs,
      random,
      addresses: this.kernel,
      sockets: {
        indexOf: this.kernel.indexOf,
        open: (name, handler, events) => this.#networkOf(name).socketsOf(this).open(name, handler, events),
      },
      ipv6Sockets: { open: (name, handlers) => this.#networkOf(name).ipv6SocketsOf(this).open(name, handlers) },
      probeAddress: (interfaceName, { address, macAddress }) =>
        this.process.settled(this.addressUse(interfaceName, address, macAddress)),
      listenForAddresses: (interfaceName, lowest, highest) => ({
        heard: () => {
          const heard = this.heard.get(interfaceName) ?? [];
          return heard.splice(0).filter(({ address }) => address >= lowest && address <= highest);
        },
        close: () => undefined,
      }),
      probeServers: (interfaceName) => this.process.settled(this.servers(interfaceName)),
      lease: lease.reachedBy({
        process: this.process,
        timeoutMs: renewDeadlineMs * 0.6,
        fate: () => this.fate(),
        watchLagMs: () => this.watchLagMs(),
        isCutOff: () => this.isCutOff,
      }),
      poolSource: (key) => this.#reached(poolSource(key)),
      ntpNames: (onChange) => {
        this.#onNames = onChange;
        return {
          known: this.#names,
          want: (names) => {
            this.wantedNames = names;
          },
          stop: () => undefined,
        };
      },
      isolation: { check: () => undefined, problemOf: (name) => this.isolationProblem(name) },
      neededFor: (address) => this.neededFor(address),
      ...(packetLog !== undefined && { packetLog }),
      traffic: this.traffic,
      observer: this.observer,
    };
  }

  #networkOf(interfaceName: string): FakeNetwork {
    const network = this.#settings.networks.get(interfaceName);
    if (network === undefined) throw new Error(`no network behind ${interfaceName}`);
    return network;
  }

  /** This pod's connection to the API server. */
  #reached(source: ResourcePort<KubernetesObject>): ResourcePort<KubernetesObject> {
    const { clock } = this.#settings;
    return {
      list: (options) => {
        if (!this.isCutOff) return this.process.settled(source.list(options));
        return this.process.settled(
          new Promise((_, reject) => void clock.after(REFUSED_MS, () => reject(new Error('connection refused')))),
        );
      },
      watch: (version, { onEvent, onEnd }) => {
        let isStopped = false;
        const end: typeof onEnd = (reason) =>
          this.process.deliver(() => {
            if (isStopped) return;
            isStopped = true;
            onEnd(reason);
          });
        const stop = source.watch(version, {
          onEvent: (event) => {
            if (isStopped) return;
            if (this.isCutOff) clock.after(LOST_WATCH_MS, () => end({ kind: 'failed', error: new Error('connection reset') }));
            else
              this.process.deliver(() => {
                if (!isStopped) onEvent(event);
              });
          },
          onEnd: end,
        });
        return () => {
          isStopped = true;
          stop();
        };
      },
    };
  }
}
