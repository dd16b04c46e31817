/**
 * IPv6 on the networks of an agent in a cluster, and what its report says of them: routers and declined addresses, found while it answers, or else
 * adopted from the leader.
 */
import { formatIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import {
  type AgentNetworkConfig,
  type DeclinedIpv6,
  MOST_DECLINED_IPV6,
  type PoolReport,
  type ReportedRouter,
} from '@vmdhcp/ippool-api/agent';
import type { ServedIpv6 } from '../interface/served-interface.js';
import { type Dhcpv6ReplyPacket, servedIpv6 } from '../interface/served-ipv6.js';
import type { StandbyGate } from '../leadership/standby-gate.js';
import type { AgentPorts } from '../ports.js';
import type { DhcpServer } from '../server/dhcp-server.js';
import type { AnswerMode } from './answer-mode.js';

/** By then, a new leader has asked itself. */
const ADOPTED_MS = 60_000;
const NOTHING_KNOWN = { routers: undefined, untilMs: 0 };
/** A client that declines its address is offered the same one again, and declines it again soon. */
const DECLINED_MS = 600_000;

export interface Ipv6OfNetworksPorts extends Pick<AgentPorts, 'observer' | 'clock' | 'random' | 'ipv6Sockets'> {
  readonly server: DhcpServer;
  readonly standbyGate: Pick<StandbyGate, 'admitDhcpv6'>;
  readonly answerMode: (config: AgentNetworkConfig) => AnswerMode;
  /** True if the API server has not been heard for long. */
  readonly isOutOfTouch: () => boolean;
  /** True if the leader knows a newer version of the pool. */
  readonly isBehind: (poolKey: string) => boolean;
  readonly publish: () => void;
}

export class Ipv6OfNetworks {
  readonly #ports: Ipv6OfNetworksPorts;
  /** By pool. */
  readonly #routers = new Map<string, { readonly routers: readonly ReportedRouter[]; readonly untilMs: number }>();
  /** By pool and MAC address. */
  readonly #declined = new Map<string, Map<string, { readonly address: string; readonly untilMs: number }>>();

  constructor(ports: Ipv6OfNetworksPorts) {
    this.#ports = ports;
  }

  of(config: AgentNetworkConfig): ServedIpv6 {
    const { observer, clock, random, ipv6Sockets: sockets, server, answerMode, publish } = this.#ports;
    return {
      sockets,
      ...servedIpv6(config.interfaceName, {
        ...{ observer, clock, random, counters: server.counters },
        leaseOf: (poolName, macAddress) => server.leaseOf(poolName, macAddress),
        pools: () => server.poolAlone(config.ipPoolRef),
        mayAnswer: () => answerMode(config) === 'leader',
        mayHelp: (answer) => answerMode(config) === 'standby' && this.#mayHelp(config.ipPoolRef, answer),
        advertisesForOtherAt: () => this.#advertisesForOtherAt(config),
        onRouters: (routers) => {
          if (routers === undefined) this.#routers.delete(config.ipPoolRef);
          else this.#routers.set(config.ipPoolRef, { routers, untilMs: Number.POSITIVE_INFINITY });
          publish();
        },
        onDeclined: (macAddress, address) => {
          // One guest can repeat it as often as it likes.
          if (this.#noteDeclined(config.ipPoolRef, { macAddress, address: formatIpv6Address(address) })) publish();
        },
      }),
    };
  }

  #mayHelp(pool: string, answer: Dhcpv6ReplyPacket): boolean {
    const { observer, standbyGate } = this.#ports;
    const isHelped = standbyGate.admitDhcpv6(pool, answer);
    if (isHelped) observer.observe({ kind: 'standby-answer', pool, macAddress: answer.macAddress });
    return isHelped;
  }

  /** A replica without news may know an old prefix, and may be the only one that is cut off, so it lets the others go first. */
  #advertisesForOtherAt(config: AgentNetworkConfig): number | undefined {
    const { answerMode, isBehind, isOutOfTouch } = this.#ports;
    if (answerMode(config) !== 'standby' || isBehind(config.ipPoolRef)) return undefined;
    return isOutOfTouch() ? 3 : 2;
  }

  /** The routers on the network of a pool; undefined if they are not known. */
  routersOf(poolKey: string): readonly ReportedRouter[] | undefined {
    const { routers, untilMs } = this.#routers.get(poolKey) ?? NOTHING_KNOWN;
    return untilMs > this.#ports.clock.nowMs() ? routers : undefined;
  }

  /** Returns true if it was not noted before. */
  #noteDeclined(poolKey: string, { macAddress, address }: DeclinedIpv6): boolean {
    const ofPool = this.#declined.get(poolKey) ?? new Map();
    this.#declined.set(poolKey, ofPool);
    const known = ofPool.get(macAddress);
    if (ofPool.size >= MOST_DECLINED_IPV6 && known === undefined) return false;
    ofPool.set(macAddress, { address, untilMs: this.#ports.clock.nowMs() + DECLINED_MS });
    return known?.address !== address;
  }

  /** The addresses of a pool that their clients declined, in the last minutes. */
  declinedOf(poolKey: string): readonly DeclinedIpv6[] {
    const ofPool = this.#declined.get(poolKey) ?? new Map();
    const nowMs = this.#ports.clock.nowMs();
    for (const [macAddress, { untilMs }] of ofPool) if (untilMs <= nowMs) ofPool.delete(macAddress);
    return [...ofPool].map(([macAddress, { address }]) => ({ address, macAddress }));
  }

  /** Adopts what another leader reports on a pool. */
  noteOtherLeader(poolKey: string, { routers, declinedIpv6 = [] }: PoolReport): void {
    const untilMs = this.#ports.clock.nowMs() + ADOPTED_MS;
    if (routers !== undefined) this.#routers.set(poolKey, { routers, untilMs });
    for (const one of declinedIpv6) this.#noteDeclined(poolKey, one);
  }
}
