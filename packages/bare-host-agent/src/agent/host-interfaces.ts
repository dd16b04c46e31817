/** The served interfaces of a bare host, with the server addresses that the agent adds to them if it may. */
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

/** What it takes to open an interface. */
export interface InterfaceParts {
  readonly name: string;
  /** The pools that are served on it now, in order; called for every packet. */
  readonly pools: () => readonly ServedPool[];
  /** Called before UDP port 67 is opened. */
  readonly prepare: () => Promise<void>;
}

export interface HostInterfacesSettings {
  readonly logger: Logger;
  readonly host: HostAddresses;
  readonly server: Pick<DhcpServer, 'poolsNamed'>;
  /** The pools served on each interface, in order. */
  readonly poolsOfInterface: ReadonlyMap<string, readonly string[]>;
  /** True if the agent adds missing server addresses. */
  readonly configuresInterfaces: boolean;
  readonly open: (parts: InterfaceParts) => Pick<ServedInterface, 'state' | 'ipv6Problem' | 'check' | 'stop' | 'inject' | 'send'>;
}

export class HostInterfaces {
  /** The interfaces of each pool. */
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

  /** Why IPv6 is not served on interfaces, a line each. */
  ipv6Problems(): string[] {
    return [...this.#interfaces].flatMap(([name, { ipv6Problem }]) =>
      ipv6Problem === undefined ? [] : [`interface ${name}: ${ipv6Problem}`],
    );
  }

  /**
   * The pools that are not served, each with its reason; empty if all are served. @param planned - pools whose leases are
   * recorded.
   */
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

  /** Updates the interfaces after the pools of the server changed. */
  onPoolsChanged(): void {
    const { server, poolsOfInterface } = this.#settings;
    for (const [name, pools] of poolsOfInterface) this.#served.set(name, server.poolsNamed(pools));
  }

  /** Handles a packet that was received before, as if it were received now. */
  inject(name: string, packet: Uint8Array): void {
    this.#interfaces.get(name)?.inject(packet);
  }

  /** Sends replies that had to wait. */
  send(name: string, replies: readonly LateReply[]): void {
    this.#interfaces.get(name)?.send(replies);
  }

  /** Updates sockets for the current state of the interfaces. Call it several times a second; never throws. */
  async check(): Promise<void> {
    await Promise.all([...this.#interfaces.values()].map((served) => served.check()));
  }

  /** Adds the server addresses of new pools on the served interfaces. Never throws. */
  prepareServed(): void {
    for (const name of this.names.filter((one) => this.#isServing(one))) {
      try {
        this.#prepare(name);
      } catch (error) {
        this.#settings.logger.error({ err: error, interface: name }, 'interface could not be configured');
      }
    }
  }

  /** Prolongs the server addresses. Call it every second; never throws. */
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

  /** Removes the server addresses that the agent added. */
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

/** Turns a map from interface to pools into one from pool to interfaces. */
function turnRound(poolsOfInterface: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const turned = new Map<string, string[]>();
  for (const [name, pools] of poolsOfInterface) {
    for (const pool of pools) turned.set(pool, [...(turned.get(pool) ?? []), name]);
  }
  return turned;
}
