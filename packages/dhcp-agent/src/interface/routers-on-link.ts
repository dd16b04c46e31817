/**
 * The IPv6 routers of one network, by their Router Advertisements, or by their answers if they send none. The agent that answers asks for them when it
 * begins, as a host does, and every few minutes: a router that has gone is forgotten soon.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, type Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { HeardAdvertisement } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { MOST_ROUTERS, type ReportedRouter } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { Ipv6Source } from '../ports.js';

/** A limit, because one machine can pretend to be any number of routers. Beyond it only clients of the pools are noted. */
const MOST_HEARD = 64;
/** Three at the start, which a router answers within 3.5 s. Source: RFC 4861 §6.3.7, §6.2.6. */
const FIRST_COUNT = 3;
const FIRST_MS = 4_000;
const KNOWN_MS = FIRST_COUNT * FIRST_MS;
const INTERVAL_MS = 240_000;
/** The longest usual time between two advertisements, and a few seconds. Source: RFC 4861 §6.2.1. */
const FORGET_MS = 620_000;
/** Between two changes that are told: twice as long after each, as one machine can pretend to be another router every time. */
const [SHORTEST_MS, LONGEST_MS] = [20_000, 600_000];
const QUIET_MS = 2 * LONGEST_MS;

export interface RoutersOnLinkPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** True if this agent answers now. */
  readonly isAnswering: () => boolean;
  /** True for the MAC address of a client of the pools. */
  readonly isClient: (macAddress: MacAddress) => boolean;
  /** The routers that send no advertisements, and are asked one by one. What comes from their addresses may come from agents. */
  readonly silentRouters: () => readonly Ipv6Address[];
  /** Asks all routers, also those. */
  readonly solicit: () => void;
  /** Called when they are known, have changed, or (undefined) another agent answers. */
  readonly onChange: (routers: readonly ReportedRouter[] | undefined) => void;
}

interface Heard {
  readonly router: ReportedRouter;
  readonly isClient: boolean;
  readonly atMs: number;
  /** True for a router that has answered, which need not send advertisements. */
  readonly isAnswer: boolean;
  /** When it last advertised that addresses do not come by DHCPv6. */
  readonly unmanagedAtMs: number;
}

export class RoutersOnLink {
  readonly #ports: RoutersOnLinkPorts;
  /** By address and MAC address, first heard first. */
  readonly #heard = new Map<string, Heard>();
  /** The silent routers when this looked last. */
  #silentRouters: readonly Ipv6Address[] = [];
  /** Undefined while another agent answers. */
  #startedAtMs: number | undefined;
  #asked = 0;
  #nextAtMs = 0;
  #told: string | undefined;
  #toldAtMs = 0;
  #betweenMs = SHORTEST_MS;

  constructor(ports: RoutersOnLinkPorts) {
    this.#ports = ports;
  }

  /** @param isAsOfAgent - true if it looks like that of an agent: only a client that imitates one matters. */
  note(source: Ipv6Source, { isDefaultRouter, isManaged }: HeardAdvertisement, isAsOfAgent = false): void {
    const nowMs = this.#ports.clock.nowMs();
    const known = this.#heard.get(keyOf(source));
    const unmanagedAtMs = isManaged ? Number.NEGATIVE_INFINITY : nowMs;
    const isInName = this.#ports.silentRouters().includes(source.address);
    // No agent has the MAC address of the router, so it sends advertisements itself.
    if (isInName && known?.isAnswer === true) this.#set(source, { ...known, unmanagedAtMs });
    else if (!(isAsOfAgent || isInName) || this.#ports.isClient(source.macAddress))
      this.#add(source, { isDefaultRouter, isAnswer: false, unmanagedAtMs });
  }

  /** A host says that it is there, and is a router. */
  noteAnswer(source: Ipv6Source): void {
    if (!this.#ports.silentRouters().includes(source.address)) return;
    const { unmanagedAtMs = Number.NEGATIVE_INFINITY } = this.#heard.get(keyOf(source)) ?? {};
    this.#add(source, { isDefaultRouter: true, isAnswer: true, unmanagedAtMs });
  }

  #add(
    source: Ipv6Source,
    { isDefaultRouter, ...said }: Pick<Heard, 'isAnswer' | 'unmanagedAtMs'> & { isDefaultRouter: boolean },
  ): void {
    const isClient = this.#ports.isClient(source.macAddress);
    if (!this.#heard.has(keyOf(source)) && this.#heard.size >= MOST_HEARD && !(isClient && this.#makeRoom())) return;
    const router = {
      address: formatIpv6Address(source.address),
      macAddress: source.macAddress,
      isDefaultRouter,
      isManaged: true,
    };
    this.#set(source, { router, isClient, atMs: this.#ports.clock.nowMs(), ...said });
  }

  #set(source: Ipv6Source, heard: Heard): void {
    const isManaged = this.#ports.clock.nowMs() - heard.unmanagedAtMs > FORGET_MS;
    this.#heard.set(keyOf(source), { ...heard, router: { ...heard.router, isManaged } });
  }

  /** Forgets the newest that is not a client. Returns false if there is none. */
  #makeRoom(): boolean {
    const newest = [...this.#heard].findLast(([, { isClient }]) => !isClient);
    return newest !== undefined && this.#heard.delete(newest[0]);
  }

  /** Asks if that is due, and tells what has changed. Call it several times a second. */
  look(): void {
    const { clock, isAnswering } = this.#ports;
    const nowMs = clock.nowMs();
    this.#followSilentRouters();
    for (const [key, { atMs }] of this.#heard) if (nowMs - atMs > FORGET_MS) this.#heard.delete(key);
    if (!isAnswering()) this.#end();
    else {
      if (this.#startedAtMs === undefined) this.#start(nowMs);
      this.#lookAt(nowMs, this.#startedAtMs ?? nowMs);
    }
  }

  /** When others are to be asked, what the former ones answered does not count, and nothing is known before these could answer. */
  #followSilentRouters(): void {
    const routers = this.#ports.silentRouters();
    if (routers.length === this.#silentRouters.length && routers.every((one) => this.#silentRouters.includes(one))) return;
    this.#silentRouters = routers;
    for (const [key, { isAnswer }] of this.#heard) if (isAnswer) this.#heard.delete(key);
    this.#end();
  }

  #start(nowMs: number): void {
    this.#startedAtMs = nowMs;
    this.#asked = 0;
    this.#nextAtMs = nowMs;
    this.#betweenMs = SHORTEST_MS;
  }

  #end(): void {
    this.#startedAtMs = undefined;
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.#ports.onChange(undefined);
  }

  #lookAt(nowMs: number, startedAtMs: number): void {
    if (nowMs >= this.#nextAtMs) {
      this.#ports.solicit();
      this.#asked++;
      this.#nextAtMs = nowMs + (this.#asked < FIRST_COUNT ? FIRST_MS : INTERVAL_MS);
    }
    const mayTell = this.#told === undefined ? nowMs - startedAtMs >= KNOWN_MS : nowMs - this.#toldAtMs >= this.#betweenMs;
    if (mayTell) this.#tell(nowMs);
  }

  #tell(nowMs: number): void {
    const routers = this.#known();
    const text = JSON.stringify(routers);
    if (text === this.#told) return;
    const isQuiet = this.#told === undefined || nowMs - this.#toldAtMs > QUIET_MS;
    this.#betweenMs = isQuiet ? SHORTEST_MS : Math.min(2 * this.#betweenMs, LONGEST_MS);
    this.#told = text;
    this.#toldAtMs = nowMs;
    this.#ports.onChange(routers);
  }

  /** Clients of the pools, which should not be routers, come before hosts that cannot be told apart; of these, those that were heard first. */
  #known(): readonly ReportedRouter[] {
    const heard = [...this.#heard.values()].toSorted((one, other) => Number(other.isClient) - Number(one.isClient));
    const routers = heard.slice(0, MOST_ROUTERS).map(({ router }) => router);
    return routers.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }
}

function keyOf({ address, macAddress }: Ipv6Source | ReportedRouter): string {
  return `${address} ${macAddress}`;
}
