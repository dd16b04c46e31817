/** The status of an agent on a bare host: which pools it serves and why not, metrics, and its status server. */
import type { Server } from 'node:http';
import type { LeaseEventLog } from '@vmdhcp/agent-process';
import { createMetrics, leasesPage, type Metrics } from '@vmdhcp/agent-process';
import type { DhcpServer, UnservedPool } from '@vmdhcp/dhcp-agent/packet-path';
import type { OpenLeases } from '@vmdhcp/lease-stores';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import type { HostInterfaces } from './host-interfaces.js';
import type { PlannedPools } from './planned-pools.js';
import { ReadinessLog } from './readiness-log.js';

export interface BareHostStatusParts {
  readonly logger: Logger;
  readonly counters: DhcpServer['counters'];
  readonly events: LeaseEventLog;
  readonly open: OpenLeases;
  readonly planned: () => PlannedPools;
  readonly interfaces: () => HostInterfaces;
  /** The configuration in force, or the one that will be as soon as it can be saved. */
  readonly file: () => PoolsFile;
  /** Why the file on the disk is not in effect, a line each. */
  readonly fileProblems: () => readonly string[];
}

export class BareHostStatus {
  readonly metrics: Metrics;
  readonly #parts: BareHostStatusParts;
  readonly #readiness: ReadinessLog;

  constructor(parts: BareHostStatusParts) {
    this.#parts = parts;
    this.#readiness = new ReadinessLog(parts.logger);
    const { counters, events, open, planned } = parts;
    this.metrics = createMetrics({
      counters,
      leaseEvents: () => events.counts(),
      served: () => this.#servedPools(),
      allocation: { poolCounts: () => planned().counts, refusedClaims: () => planned().refusedClaims },
      open: {
        counts: () => new Map([...open.counts()].filter(([name]) => planned().all.has(name))),
        failures: () => open.failures,
      },
    });
  }

  unserved(): UnservedPool[] {
    const { interfaces, file, planned } = this.#parts;
    return interfaces().unserved(file(), new Set(planned().all.keys()));
  }

  /** Logs changes of readiness. */
  reportReadiness(): void {
    const { interfaces, planned } = this.#parts;
    this.#readiness.report(this.unserved(), { pools: [...planned().all.keys()], interfaces: interfaces().names });
  }

  reportPoolsWithoutInterface(): void {
    const { interfaces, file, logger } = this.#parts;
    for (const [pool, { paused }] of file().pools) {
      if (paused || interfaces().interfacesOf.has(pool)) continue;
      logger.warn(
        { pool },
        `the pool has no interface and is not served: give --interface ${pool}=IFACE and start the agent again, or set spec.paused: true`,
      );
    }
  }

  /** Health, readiness, metrics and leases over HTTP. @throws CommandError if the address cannot be used. */
  startServer(where: ListenAddress): Promise<Server> {
    return startStatusServer(where, {
      unready: () => this.#unready(),
      // The earlier pools are served, or IPv4 is, so the agent is ready.
      lacks: () => [...this.#parts.fileProblems(), ...this.#parts.interfaces().ipv6Problems()],
      registry: this.metrics.registry,
      pages: { '/leases': leasesPage(() => this.#parts.planned().leases()) },
    });
  }

  #servedPools(): ReadonlyMap<string, boolean> {
    const unserved = new Set(this.unserved().map(({ pool }) => pool));
    const names = new Set([...this.#parts.planned().all.keys(), ...unserved]);
    return new Map([...names].map((name) => [name, !unserved.has(name)]));
  }

  #unready(): string[] {
    const unserved = this.unserved().map(({ pool, reason }) => `${pool}: ${reason}`);
    const { problem } = this.#parts.open;
    return problem === undefined ? unserved : [...unserved, problem];
  }
}
