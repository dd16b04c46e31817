/** IPv6 on the networks of an agent in a cluster, and the routers there: those that it finds while it answers, or else those that the leader reports. */
import type { AgentNetworkConfig, AgentReport, ReportedRouter } from '@vmdhcp/ippool-api/agent';
import type { ServedIpv6 } from '../interface/served-interface.js';
import { servedIpv6 } from '../interface/served-ipv6.js';
import type { AgentPorts } from '../ports.js';
import type { DhcpServer } from '../server/dhcp-server.js';

export interface Ipv6OfNetworksPorts extends Pick<AgentPorts, 'observer' | 'clock' | 'random' | 'ipv6Sockets'> {
  readonly server: DhcpServer;
  /** True if this agent answers the clients of the pool. */
  readonly mayAnswer: (config: AgentNetworkConfig) => boolean;
  readonly publish: () => void;
}

export class Ipv6OfNetworks {
  readonly #ports: Ipv6OfNetworksPorts;
  /** By pool. */
  readonly #routers = new Map<string, readonly ReportedRouter[]>();

  constructor(ports: Ipv6OfNetworksPorts) {
    this.#ports = ports;
  }

  of(config: AgentNetworkConfig): ServedIpv6 {
    const { observer, clock, random, ipv6Sockets: sockets, server, mayAnswer, publish } = this.#ports;
    return {
      sockets,
      ...servedIpv6(config.interfaceName, {
        ...{ observer, clock, random, counters: server.counters },
        leaseOf: (poolName, macAddress) => server.leaseOf(poolName, macAddress),
        pools: () => server.poolAlone(config.ipPoolRef),
        mayAnswer: () => mayAnswer(config),
        onRouters: (routers) => {
          this.#routers.set(config.ipPoolRef, routers);
          publish();
        },
      }),
    };
  }

  /** The routers on the network of a pool; undefined if they are not known. */
  routersOf(poolKey: string): readonly ReportedRouter[] | undefined {
    return this.#routers.get(poolKey);
  }

  /** Adopts what another leader reports. */
  noteOtherLeader(report: AgentReport): void {
    for (const [poolKey, { routers }] of report) if (routers !== undefined) this.#routers.set(poolKey, routers);
  }
}
