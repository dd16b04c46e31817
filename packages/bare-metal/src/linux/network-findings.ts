/** What the leader finds on the management network besides its clients, and what the status of the ClusterAgent has of that. */
import {
  type AddressProbe,
  type AgentObserver,
  DECOYS,
  decoyAddresses,
  type ServerAddress,
  type ServerProbe,
} from '@vmdhcp/dhcp-agent';
import type { OpenPoolCounts, Pool } from '@vmdhcp/dhcp-allocator';
import type { HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import { formatTime, type KubernetesObject, type ObjectClient } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import { AgentStatus, foundConditions, rangeCondition, serviceCondition } from './agent-status.js';
import { ExhaustedRange } from './exhausted-range.js';
import { OtherServers } from './other-servers.js';
import { SelfProbe } from './self-probe.js';

export interface NetworkFindingsPorts {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly observer: AgentObserver;
  /** Of a clock that is not set. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  readonly random: () => number;
  readonly probeAddress: AddressProbe;
  readonly probeServers: ServerProbe;
  /** False: neither is probed, for want of CAP_NET_RAW. */
  readonly mayProbe: boolean;
  /** The pool in force. */
  readonly pool: () => Pool | undefined;
  /** Behind the fence of leadership. */
  readonly clusterAgents: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  /** An Event about the ClusterAgent. */
  readonly record: (event: HostEventOf<'ClusterAgent'>) => void;
  /** `selfIp` was probed. */
  readonly onChange: () => void;
}

/** What the leader knows of its own service. */
export interface ServiceFacts {
  readonly counts: OpenPoolCounts | undefined;
  /** Messages of clients that got no address as none was free, since the process began. */
  readonly refused: number;
  /** What keeps clients from being answered. */
  readonly troubles: readonly string[];
  readonly isServing: boolean;
}

export class NetworkFindings {
  readonly #mayProbe: boolean;
  readonly #pool: NetworkFindingsPorts['pool'];
  readonly #range: ExhaustedRange;
  readonly #self: SelfProbe;
  readonly #servers: OtherServers;
  readonly #status: AgentStatus;

  constructor(ports: NetworkFindingsPorts) {
    const { logger, nowMs, wallTimeMs, random, pool, probeAddress, probeServers, clusterAgents, mayProbe } = ports;
    this.#mayProbe = mayProbe;
    this.#pool = pool;
    this.#range = new ExhaustedRange(ports);
    this.#self = new SelfProbe({
      ...ports,
      probe: probeAddress,
      decoysOf: () => {
        const current = pool();
        // Leases are not open yet: a host that has an address that was drawn does not have the others.
        return current === undefined ? [] : decoyAddresses(current, { count: DECOYS, isAssigned: () => false, random });
      },
    });
    this.#servers = new OtherServers({ ...ports, probe: probeServers });
    this.#status = new AgentStatus({
      client: clusterAgents,
      nowMs,
      now: () => formatTime(wallTimeMs()),
      onError: (error) => logger.warn({ err: error }, 'the status of the ClusterAgent cannot be written'),
    });
  }

  /** Other DHCP servers, by their number; undefined: not known here. */
  get otherServers(): number | undefined {
    return this.#servers.found?.length;
  }

  /** What keeps the agent from answering. No other replica could do better, as the network is the same. */
  problems(): string[] {
    const { problem } = this.#self;
    return problem === undefined ? [] : [problem];
  }

  /** Those of these addresses that may be added; the others are probed. To be called while this replica leads. */
  free(addresses: readonly ServerAddress[]): readonly ServerAddress[] {
    return this.#self.free(addresses);
  }

  /** Looks for other DHCP servers where it is time to. To be called every second. @param interfaceName - that clients are answered on; undefined: they are not. */
  look(interfaceName: string | undefined): void {
    if (interfaceName === undefined || !this.#mayProbe) this.#servers.forget();
    else this.#servers.look(interfaceName);
  }

  /** Brings the status in line with what is known. To be called every second while this replica leads. */
  report(clusterAgent: KubernetesObject, { counts, refused, troubles, isServing }: ServiceFacts): void {
    this.#range.look({ pool: this.#pool(), counts, refused });
    const ofNetwork = foundConditions(this.#self, this.#servers);
    const conditions = [...ofNetwork, ...rangeCondition(this.#range), ...serviceCondition(troubles, isServing)];
    void this.#status.report(clusterAgent, { counts, conditions });
  }

  /** Leadership has ended. */
  forget(): void {
    this.#self.forget();
    this.#servers.forget();
    this.#range.forget();
  }
}
