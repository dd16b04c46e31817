/** The interfaces of a bare host that are served, with the server addresses that the agent adds to them if it may. */
import {
  type DhcpServer,
  type InterfaceState,
  type LateReply,
  type ServedInterface,
  type UnservedPool,
  unservedPools,
} from '@vmdhcp/dhcp-agent/packet-path';
import { formatIpv4Address, type Pool, type ServedPool } from '@vmdhcp/dhcp-allocator';
import type { Logger } from '@vmdhcp/service-process';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import type { HostAddresses } from './host-addresses.js';
import { HostServerAddresses } from './host-server-addresses.js';

/** What an interface has to be opened with. */
export interface InterfaceParts {
  readonly name: string;
  /** The pools that are served on it now, in order; asked for every packet. */
  readonly pools: () => readonly ServedPool[];
  /** Called before UDP port 67 is opened. */
  readonly prepare: () => Promise<void>;
}

export interface HostInterfacesSettings {
  readonly logger: Logger;
  readonly host: HostAddresses;
  readonly server: Pick<DhcpServer, 'poolsNamed'>;
  /** Interface to the pools that are served on it, in order. */
  readonly poolsOfInterface: ReadonlyMap<string, readonly string[]>;
  /** True: the agent adds the server addresses that are missing. */
  readonly configuresInterfaces: boolean;
  readonly open: (parts: InterfaceParts) => Pick<ServedInterface, 'state' | 'check' | 'stop' | 'inject' | 'send'>;
}

export class HostInterfaces {
  /** Pool to its interfaces. */
  readonly interfacesOf: ReadonlyMap<string, readonly string[]>;
  readonly #settings: HostInterfacesSettings;
  readonly #interfaces: ReadonlyMap<string, ReturnType<HostInterfacesSettings['open']>>;
  readonly #addresses: HostServerAddresses;
  /** By interface. */
  readonly #served = new Map<string, readonly ServedPool[]>();

  constructor(settings: HostInterfacesSettings) {
    const { poolsOfInterface, host, logger, open } = settings;
    this.#settings = settings;
    this.#addresses = new HostServerAddresses(host, logger);
    this.interfacesOf = turnRound(poolsOfInterface);
    this.#interfaces = new Map(
      [...poolsOfInterface.keys()].map((name) => [
        name,
        open({ name, pools: () => this.#served.get(name) ?? [], prepare: async () => this.#prepare(name) }),
      ]),
    );
  }

  get names(): readonly string[] {
    return [...this.#interfaces.keys()];
  }

  stateOf(name: string): InterfaceState {
    return this.#interfaces.get(name)?.state ?? { kind: 'opening' };
  }

  /** The pools that are not served, each with its reason; empty if all are. @param planned - those whose leases are recorded. */
  unserved({ pools }: PoolsFile, planned: ReadonlySet<string>): UnservedPool[] {
    const paused = new Set([...pools].filter(([, pool]) => pool.paused).map(([name]) => name));
    return unservedPools({
      wanted: new Set([...pools.keys(), ...this.interfacesOf.keys()]),
      planned,
      paused,
      interfacesOf: this.interfacesOf,
      stateOf: (name) => this.stateOf(name),
    });
  }

  /** The server has other pools than before. */
  onPoolsChanged(): void {
    const { server, poolsOfInterface } = this.#settings;
    for (const [name, pools] of poolsOfInterface) this.#served.set(name, server.poolsNamed(pools));
  }

  /** Answers a packet that came in before, as if it came in now. */
  inject(name: string, packet: Uint8Array): void {
    this.#interfaces.get(name)?.inject(packet);
  }

  /** Sends replies that had to wait. */
  send(name: string, replies: readonly LateReply[]): void {
    this.#interfaces.get(name)?.send(replies);
  }

  /** Brings sockets in line with the interfaces as they are now. To be called several times a second; never throws. */
  async check(): Promise<void> {
    await Promise.all([...this.#interfaces.values()].map((served) => served.check()));
  }

  /** Adds the server addresses of pools that are new on the interfaces that are served. Never throws. */
  prepareServed(): void {
    for (const name of this.names.filter((one) => this.#isServing(one))) {
      try {
        this.#prepare(name);
      } catch (error) {
        this.#settings.logger.error({ err: error, interface: name }, 'interface could not be configured');
      }
    }
  }

  /** Prolongs the server addresses. To be called every second; never throws. */
  keepAddresses(): void {
    if (!this.#settings.configuresInterfaces) return;
    this.#addresses.keep(
      new Map(this.names.map((name) => [name, this.#poolsOn(name)])),
      (name) => this.#isServing(name) && this.#settings.host.indexOf(name) !== 0,
    );
  }

  /** Closes all sockets. */
  stop(): void {
    for (const served of this.#interfaces.values()) served.stop();
  }

  /** Removes the server addresses that the agent has added. */
  releaseAddresses(): void {
    this.#addresses.release();
  }

  #isServing(name: string): boolean {
    return this.stateOf(name).kind === 'serving';
  }

  #poolsOn(name: string): readonly Pool[] {
    return (this.#served.get(name) ?? []).map(({ pool }) => pool);
  }

  #prepare(name: string): void {
    const { configuresInterfaces, host, logger } = this.#settings;
    const pools = this.#poolsOn(name);
    if (configuresInterfaces) {
      this.#addresses.ensure(name, pools);
      return;
    }
    const present = host.list(host.indexOf(name));
    for (const { name: pool, serverAddress } of pools) {
      if (present.some(({ address }) => address === serverAddress)) continue;
      logger.warn(
        { interface: name, address: formatIpv4Address(serverAddress), pool },
        'the interface does not have the server address: renewals cannot reach the server; add it, or give --configure-interfaces',
      );
    }
  }
}

/** Pool to its interfaces, of interface to its pools. */
function turnRound(poolsOfInterface: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const turned = new Map<string, string[]>();
  for (const [name, pools] of poolsOfInterface) {
    for (const pool of pools) turned.set(pool, [...(turned.get(pool) ?? []), name]);
  }
  return turned;
}
