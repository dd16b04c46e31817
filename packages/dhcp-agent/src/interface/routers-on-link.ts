/**
 * The IPv6 routers of one network, by their Router Advertisements. The agent that answers asks for them when it begins, as a host does, and every few
 * minutes: a router that has gone is forgotten soon.
 */
import { formatIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { HeardAdvertisement } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { ReportedRouter } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { Ipv6Source } from '../ports.js';

/** A limit, because one machine can pretend to be any number of routers. */
const MOST_ROUTERS = 8;
/** Three at the start, which a router answers within 3.5 s. Source: RFC 4861 §6.3.7, §6.2.6. */
const FIRST_COUNT = 3;
const FIRST_MS = 4_000;
const KNOWN_MS = FIRST_COUNT * FIRST_MS;
const INTERVAL_MS = 240_000;
/** The longest usual time between two advertisements, and a few seconds. Source: RFC 4861 §6.2.1. */
const FORGET_MS = 620_000;
/** Between two changes that are told: one machine can pretend to be another router every time. */
const LEAST_BETWEEN_MS = 20_000;

export interface RoutersOnLinkPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** True if this agent answers now. */
  readonly isAnswering: () => boolean;
  /** Asks all routers. */
  readonly solicit: () => void;
  /** Called when they are known, and when they have changed. */
  readonly onChange: (routers: readonly ReportedRouter[]) => void;
}

interface Heard {
  readonly router: ReportedRouter;
  readonly atMs: number;
}

export class RoutersOnLink {
  readonly #ports: RoutersOnLinkPorts;
  /** By address. */
  readonly #heard = new Map<string, Heard>();
  /** Undefined while another agent answers. */
  #startedAtMs: number | undefined;
  #asked = 0;
  #nextAtMs = 0;
  #told: string | undefined;
  #toldAtMs = 0;

  constructor(ports: RoutersOnLinkPorts) {
    this.#ports = ports;
  }

  note({ address, macAddress }: Ipv6Source, { isDefaultRouter, isManaged }: HeardAdvertisement): void {
    const text = formatIpv6Address(address);
    if (!this.#heard.has(text) && this.#heard.size >= MOST_ROUTERS) return;
    const router = { address: text, macAddress, isDefaultRouter, isManaged };
    this.#heard.set(text, { router, atMs: this.#ports.clock.nowMs() });
  }

  /** Asks if that is due, and tells what has changed. Call it several times a second. */
  look(): void {
    const { clock, isAnswering } = this.#ports;
    const nowMs = clock.nowMs();
    for (const [address, { atMs }] of this.#heard) if (nowMs - atMs > FORGET_MS) this.#heard.delete(address);
    if (!isAnswering()) this.#startedAtMs = undefined;
    else {
      if (this.#startedAtMs === undefined) this.#start(nowMs);
      this.#lookAt(nowMs, this.#startedAtMs ?? nowMs);
    }
  }

  #start(nowMs: number): void {
    this.#startedAtMs = nowMs;
    this.#asked = 0;
    this.#nextAtMs = nowMs;
    this.#told = undefined;
  }

  #lookAt(nowMs: number, startedAtMs: number): void {
    if (nowMs >= this.#nextAtMs) {
      this.#ports.solicit();
      this.#asked++;
      this.#nextAtMs = nowMs + (this.#asked < FIRST_COUNT ? FIRST_MS : INTERVAL_MS);
    }
    const mayTell = this.#told === undefined ? nowMs - startedAtMs >= KNOWN_MS : nowMs - this.#toldAtMs >= LEAST_BETWEEN_MS;
    if (mayTell) this.#tell(nowMs);
  }

  #tell(nowMs: number): void {
    const routers = [...this.#heard.values()].map(({ router }) => router);
    const sorted = routers.toSorted((one, other) => (one.address < other.address ? -1 : 1));
    const text = JSON.stringify(sorted);
    if (text === this.#told) return;
    this.#told = text;
    this.#toldAtMs = nowMs;
    this.#ports.onChange(sorted);
  }
}
