/**
 * What the leader finds on the management network besides its clients, and how it writes that to the status of the ClusterAgent.
 */
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
import { AgentStatus, foundConditions, rangeCondition, serviceCondition, withdrawnConditions } from './agent-status.js';
import { ExhaustedRange } from './exhausted-range.js';
import { OtherServers } from './other-servers.js';
import { SelfProbe } from './self-probe.js';

export interface NetworkFindingsPorts {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly observer: AgentObserver;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  readonly random: () => number;
  readonly probeAddress: AddressProbe;
  readonly probeServers: ServerProbe;
  /** False if neither is probed, because CAP_NET_RAW is missing. */
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

/** What the leader knows about its own service. */
export interface ServiceFacts {
  readonly counts: OpenPoolCounts | undefined;
  /** Messages of clients that got no address because none was free, since the process began. */
  readonly refused: number;
  /** What prevents it from answering clients. */
  readonly troubles: readonly string[];
  readonly isServing: boolean;
  /** True if DHCP is switched off. */
  readonly isOff: boolean;
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
        // Leases are not open yet: if a host has one of the drawn addresses, it does not have the others.
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

  /** The number of other DHCP servers; undefined if not known here. */
  get otherServers(): number | undefined {
    return this.#servers.found?.length;
  }

  /** What prevents the agent from answering. No other replica could do better, because the network is the same. */
  problems(): string[] {
    const { problem } = this.#self;
    return problem === undefined ? [] : [problem];
  }

  /** Returns those of these addresses that may be added; the others are probed. Call it while this replica is leader. */
  free(addresses: readonly ServerAddress[]): readonly ServerAddress[] {
    return this.#self.free(addresses);
  }

  /**
   * Probes for other DHCP servers when it is time to. Call it every second. @param interfaceName - the interface on which clients
   * are answered; undefined if none.
   */
  look(interfaceName: string | undefined): void {
    if (interfaceName === undefined || !this.#mayProbe) this.#servers.forget();
    else this.#servers.look(interfaceName);
  }

  /** Updates the status. Call it every second while this replica is leader. */
  report(clusterAgent: KubernetesObject, { counts, refused, troubles, isServing, isOff }: ServiceFacts): void {
    if (isOff) this.#range.forget();
    else this.#range.look({ pool: this.#pool(), counts, refused });
    const ofDhcp = [...foundConditions(this.#self, this.#servers), ...rangeCondition(this.#range)];
    const found = isOff ? withdrawnConditions(clusterAgent) : ofDhcp;
    const conditions = [...found, ...serviceCondition(troubles, isServing || isOff)];
    void this.#status.report(clusterAgent, { counts: isOff ? undefined : counts, conditions, isOff });
  }

  /** Leadership has ended. */
  forget(): void {
    this.#self.forget();
    this.#servers.forget();
    this.#range.forget();
  }
}
