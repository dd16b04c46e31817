/** The DHCP ports of all pools that an agent is told of, open whether it leads or not: who takes over need not open anything. */
import type { AgentNetworkConfig } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import type { DhcpPacketHandler } from '../dhcp-port/dhcp-packet-handler.js';
import { type InterfaceState, ServedInterface } from '../serve/served-interface.js';
import type { FollowedPools } from './followed-pools.js';
import type { IsolatedInterfaces } from './isolated-interfaces.js';

const CHECK_INTERVAL_MS = 250;

/** `not-isolated`: packets could pass between the interface and other networks, so nothing is opened there. */
export type PoolPortState = InterfaceState | { readonly kind: 'not-isolated'; readonly message: string };

export interface PoolPortsSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: FollowedPools;
  readonly isolation: IsolatedInterfaces;
  readonly logger: Logger;
  readonly handlerOf: (config: AgentNetworkConfig) => DhcpPacketHandler;
  readonly observeBurst: (durationNs: number) => void;
  readonly onSendFailure: (interfaceName: string, failure: { readonly error: string; readonly count: number }) => void;
  readonly onStateChange: () => void;
}

export class PoolPorts {
  readonly #settings: PoolPortsSettings;
  /** By interface. */
  readonly #interfaces = new Map<string, ServedInterface>();
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: PoolPortsSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), CHECK_INTERVAL_MS);
    this.check();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const served of this.#interfaces.values()) served.stop();
    this.#interfaces.clear();
  }

  /** Brings ports in line with what is there and what is to be served. */
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

  stateOf(interfaceName: string): PoolPortState {
    const message = this.#settings.isolation.problemOf(interfaceName);
    if (message !== undefined) return { kind: 'not-isolated', message };
    return this.#interfaces.get(interfaceName)?.state ?? { kind: 'opening' };
  }

  /** Answers a packet that came in before, as if it came in now. */
  inject(interfaceName: string, packet: Uint8Array): void {
    this.#interfaces.get(interfaceName)?.inject(packet);
  }

  #open(config: AgentNetworkConfig): ServedInterface {
    const { logger, handlerOf, observeBurst, onSendFailure, onStateChange } = this.#settings;
    const { interfaceName } = config;
    const served = new ServedInterface(interfaceName, {
      logger,
      nowMs: Date.now,
      handler: handlerOf(config),
      portEvents: { onBurst: observeBurst, onSendFailure: (failure) => onSendFailure(interfaceName, failure) },
      onStateChange,
    });
    this.#interfaces.set(interfaceName, served);
    return served;
  }
}
