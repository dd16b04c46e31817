/** A guest's DHCP client according to RFC 2131 §4.4, from INIT to REBINDING and INIT-REBOOT, and with the defects of real clients. */
import type { Random } from '@vmdhcp/kube-runtime/testing';
import { type DhcpPacket, type MessageType, Option, readAddress, readSeconds, writePacket } from '../network/dhcp-packet.js';
import type { GuestPort, Segment } from '../network/segment.js';
import type { Scheduler } from '../time/scheduler.js';

export type ClientState =
  | 'off'
  | 'init'
  | 'selecting'
  | 'requesting'
  | 'rebooting'
  | 'bound'
  | 'renewing'
  | 'rebinding'
  /** It found another user of its address, and waits before it begins again (RFC 2131 §3.1). */
  | 'declined';

/** Deviations of a client, allowed or not. */
export interface ClientHabits {
  /** Sent as option 61; undefined for none. Clones have the same. */
  readonly clientIdentifier: Uint8Array | undefined;
  readonly ignoresNak: boolean;
  /** True if it asks for its last address when it restarts. */
  readonly remembersLease: boolean;
  readonly releasesAtEnd: boolean;
  /** False if it accepts any address, even if another host uses it. */
  readonly probes: boolean;
  /** True if its broadcasts reach the server through a relay. */
  readonly isBehindRelay: boolean;
}

export interface ClientSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly segment: Segment;
  readonly macAddress: string;
  readonly node: () => string;
  readonly habits: ClientHabits;
  readonly onState?: (state: ClientState) => void;
}

interface Lease {
  readonly address: string;
  readonly server: string;
  readonly boundAtMs: number;
  readonly leaseMs: number;
}

/** What machines that were made of one image send as option 61, and as their DUID. */
export const CLONED_IDENTIFIER = Uint8Array.of(255, 1, 2, 3, 4, 0, 1, 0, 1);
/** RFC 2131 §4.1: doubled each time, plus or minus a random second. */
const RETRANSMIT_MS = [4_000, 8_000, 16_000, 32_000, 64_000];
const REQUESTS = 4;
/** It has asked for one address. */
const ASKING: ReadonlySet<ClientState> = new Set(['requesting', 'rebooting', 'renewing', 'rebinding']);
const DECLINE_WAIT_MS = 10_000;
const ARP_MS = 200;
/** RFC 2131 §4.4.5: not more often while it renews. */
const LEAST_RENEW_MS = 60_000;

export class DhcpClient implements GuestPort {
  readonly macAddress: string;
  readonly node: () => string;
  readonly isBehindRelay: boolean;
  readonly #settings: ClientSettings;
  #state: ClientState = 'off';
  #lease: Lease | undefined;
  /** Its last lease, also of an earlier run. */
  #remembered: Lease | undefined;
  #offer: { readonly address: string; readonly server: string } | undefined;
  #xid = 0;
  #attempt = 0;
  #beganAtMs = 0;
  #callOff: () => void = () => undefined;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.macAddress = settings.macAddress;
    this.node = settings.node;
    this.isBehindRelay = settings.habits.isBehindRelay;
  }

  /** False if it cannot be expected to get its address. */
  get wants(): boolean {
    return !this.#settings.habits.ignoresNak;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The address that it uses. */
  readonly address = (): string | undefined => this.#lease?.address;

  /** The address that it currently asks for, once it knows one. */
  get asksFor(): string | undefined {
    if (this.#state === 'requesting') return this.#offer?.address;
    return this.#state === 'rebooting' ? this.#remembered?.address : this.#lease?.address;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  start(): void {
    this.#settings.segment.plug(this);
    const last = this.#remembered;
    if (last !== undefined && this.#settings.habits.remembersLease && this.#now() < last.boundAtMs + last.leaseMs)
      this.#reboot(last);
    else this.#init();
  }

  stop(): void {
    const lease = this.#lease;
    if (lease !== undefined && this.#settings.habits.releasesAtEnd)
      this.#send('release', { ciaddr: lease.address, serverIdentifier: lease.server }, lease.server);
    this.unplug();
  }

  /** It is on this network no more, and did not know it would be. */
  unplug(): void {
    this.#enter('off');
    this.#lease = undefined;
    this.#settings.segment.unplug(this);
  }

  readonly receive = (packet: DhcpPacket): void => {
    if (!packet.isReply || packet.xid !== this.#xid) return;
    if (this.#state === 'selecting' && packet.type === 'offer') this.#take(packet);
    if (!ASKING.has(this.#state)) return;
    if (packet.type === 'ack') this.#acknowledged(packet);
    else if (packet.type === 'nak') this.#refused();
  };

  #init(): void {
    this.#lease = undefined;
    this.#begin('init');
    // RFC 2131 §4.4.1: one to ten seconds; a virtual machine waits less.
    this.#later(this.#settings.random(1_000), () => this.#discover());
  }

  #discover(): void {
    this.#begin('selecting');
    this.#repeat(() => this.#send('discover', {}), { times: Number.POSITIVE_INFINITY, otherwise: () => undefined });
  }

  #take({ yiaddr, options }: DhcpPacket): void {
    const server = readAddress(options.get(Option.serverIdentifier));
    if (server === undefined) return;
    this.#offer = { address: yiaddr, server };
    this.#enter('requesting');
    this.#attempt = 0;
    const { address } = this.#offer;
    this.#repeat(() => this.#send('request', { requestedAddress: address, serverIdentifier: server }), {
      times: REQUESTS,
      otherwise: () => this.#init(),
    });
  }

  #reboot({ address }: Lease): void {
    this.#begin('rebooting');
    this.#repeat(() => this.#send('request', { requestedAddress: address }), { times: REQUESTS, otherwise: () => this.#init() });
  }

  #acknowledged({ yiaddr, options }: DhcpPacket): void {
    const server = readAddress(options.get(Option.serverIdentifier));
    const seconds = readSeconds(options.get(Option.leaseSeconds));
    if (server === undefined || seconds === undefined) return;
    const lease = { address: yiaddr, server, boundAtMs: this.#now(), leaseMs: seconds * 1000 };
    if (this.#lease?.address === yiaddr) this.#bind(lease);
    else {
      this.#callOff();
      this.#later(ARP_MS, () => this.#checkAndBind(lease));
    }
  }

  #checkAndBind(lease: Lease): void {
    if (!this.#settings.habits.probes || this.#settings.segment.anotherUser(this, lease.address) === undefined) {
      this.#bind(lease);
      return;
    }
    this.#send('decline', { requestedAddress: lease.address, serverIdentifier: lease.server });
    this.#remembered = undefined;
    this.#lease = undefined;
    this.#enter('declined');
    this.#later(DECLINE_WAIT_MS, () => this.#init());
  }

  #bind(lease: Lease): void {
    this.#lease = lease;
    this.#remembered = lease;
    this.#enter('bound');
    this.#later(lease.leaseMs * 0.5, () => this.#renew());
  }

  #renew(): void {
    const lease = this.#lease as Lease;
    this.#begin('renewing');
    this.#extend(lease, lease.boundAtMs + lease.leaseMs * 0.875, () => this.#rebind());
  }

  #rebind(): void {
    const lease = this.#lease as Lease;
    this.#begin('rebinding');
    this.#extend(lease, lease.boundAtMs + lease.leaseMs, () => this.#init());
  }

  /** Asks until then, each time after half of the remaining time. */
  #extend(lease: Lease, untilMs: number, otherwise: () => void): void {
    const leftMs = untilMs - this.#now();
    if (leftMs <= 0) {
      otherwise();
      return;
    }
    this.#send('request', { ciaddr: lease.address }, this.#state === 'renewing' ? lease.server : undefined);
    this.#later(Math.min(leftMs, Math.max(LEAST_RENEW_MS, leftMs / 2)), () => this.#extend(lease, untilMs, otherwise));
  }

  #refused(): void {
    if (this.#settings.habits.ignoresNak) return;
    this.#remembered = undefined;
    this.#init();
  }

  #begin(state: ClientState): void {
    this.#enter(state);
    this.#xid = this.#settings.random(2 ** 30);
    this.#attempt = 0;
    this.#beganAtMs = this.#now();
  }

  #enter(state: ClientState): void {
    this.#callOff();
    this.#state = state;
    this.#settings.onState?.(state);
  }

  #repeat(send: () => void, limit: { readonly times: number; readonly otherwise: () => void }): void {
    if (this.#attempt >= limit.times) {
      limit.otherwise();
      return;
    }
    send();
    const waitMs = RETRANSMIT_MS[Math.min(this.#attempt++, RETRANSMIT_MS.length - 1)] as number;
    this.#later(waitMs - 1_000 + this.#settings.random(2_000), () => this.#repeat(send, limit));
  }

  #send(
    type: MessageType,
    more: { readonly ciaddr?: string; readonly requestedAddress?: string; readonly serverIdentifier?: string },
    to?: string,
  ): void {
    const { segment, habits, macAddress } = this.#settings;
    const secs = Math.floor((this.#now() - this.#beganAtMs) / 1000);
    const { clientIdentifier } = habits;
    segment.send(this, writePacket({ type, xid: this.#xid, secs, macAddress, clientIdentifier, ...more }), to);
  }

  #later(ms: number, run: () => void): void {
    this.#callOff = this.#settings.scheduler.after(ms, run);
  }

  #now(): number {
    return this.#settings.scheduler.nowMs();
  }
}
