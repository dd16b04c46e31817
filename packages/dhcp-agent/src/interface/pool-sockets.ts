/** The UDP sockets of all configured pools. They are open even on a standby, so that a new leader need not open anything. */
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import { every } from '../every.js';
import type { FollowedPools } from '../pool/followed-pools.js';
import type { AgentObserver, DhcpPacketHandler, DhcpSockets, InterfaceIsolation, UnsentReplies } from '../ports.js';
import type { InterfaceState } from './interface-socket.js';
import { ServedInterface, type ServedIpv6 } from './served-interface.js';

const CHECK_INTERVAL_MS = 250;

/** `not-isolated`: packets could pass between the interface and other networks, so nothing is opened there. */
export type PoolSocketState = InterfaceState | { readonly kind: 'not-isolated'; readonly message: string };

export interface PoolSocketsSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: Pick<FollowedPools, 'get'>;
  readonly isolation: InterfaceIsolation;
  readonly clock: Clock;
  readonly sockets: DhcpSockets;
  readonly observer: AgentObserver;
  readonly handlerOf: (config: AgentNetworkConfig) => DhcpPacketHandler;
  readonly ipv6Of: (config: AgentNetworkConfig) => ServedIpv6;
  readonly onBurst: (durationNs: number) => void;
  readonly onSendFailure: (interfaceName: string, failure: UnsentReplies) => void;
  readonly onStateChange: () => void;
}

export class PoolSockets {
  readonly #settings: PoolSocketsSettings;
  /** By interface. */
  readonly #interfaces = new Map<string, ServedInterface>();
  #callOff: () => void = () => undefined;

  constructor(settings: PoolSocketsSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#callOff = every(this.#settings.clock, CHECK_INTERVAL_MS, () => this.check());
    this.check();
  }

  stop(): void {
    this.#callOff();
    for (const served of this.#interfaces.values()) served.stop();
    this.#interfaces.clear();
  }

  /** Opens and closes sockets to match the interfaces and the pools to serve. */
  check(): void {
    const { configs, pools, isolation } = this.#settings;
    isolation.check();
    for (const config of configs) {
      const isActive = pools.get(config.ipPoolRef).kind === 'active';
      const served = this.#interfaces.get(config.interfaceName);
      if (isActive && isolation.problemOf(config.interfaceName) === undefined) void (served ?? this.#open(config)).check();
      else if (served !== undefined) {
        served.stop();
        this.#interfaces.delete(config.interfaceName);
      }
    }
  }

  stateOf(interfaceName: string): PoolSocketState {
    const message = this.#settings.isolation.problemOf(interfaceName);
    if (message !== undefined) return { kind: 'not-isolated', message };
    return this.#interfaces.get(interfaceName)?.state ?? { kind: 'opening' };
  }

  /** Why IPv6 is not served on an interface although it should be. */
  ipv6ProblemOf(interfaceName: string): string | undefined {
    return this.#interfaces.get(interfaceName)?.ipv6Problem;
  }

  /** Answers a packet that was received earlier, as if it came in now. */
  inject(interfaceName: string, packet: Uint8Array): void {
    this.#interfaces.get(interfaceName)?.inject(packet);
  }

  #open(config: AgentNetworkConfig): ServedInterface {
    const { clock, sockets, observer, handlerOf, ipv6Of, onBurst, onSendFailure, onStateChange } = this.#settings;
    const { interfaceName } = config;
    const served = new ServedInterface(interfaceName, {
      observer,
      nowMs: clock.nowMs,
      sockets,
      handler: handlerOf(config),
      ipv6: ipv6Of(config),
      socketEvents: { onBurst, onSendFailure: (failure) => onSendFailure(interfaceName, failure) },
      onStateChange,
    });
    this.#interfaces.set(interfaceName, served);
    return served;
  }
}
