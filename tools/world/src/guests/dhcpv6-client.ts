/** A guest's DHCPv6 client according to RFC 8415 §18.2, which asks as soon as a Router Advertisement tells it to. */
import type { Random } from '@vmdhcp/kube-runtime/testing';
import { type Dhcpv6Packet, type Dhcpv6Type, writeDhcpv6 } from '../network/dhcpv6-packet.js';
import type { Ipv6Port, Segment } from '../network/segment.js';
import type { Scheduler } from '../time/scheduler.js';

export type Dhcpv6ClientState =
  | 'off'
  /** Nothing has told it to ask for an address. */
  | 'waiting'
  | 'soliciting'
  | 'requesting'
  | 'confirming'
  | 'bound'
  | 'renewing'
  | 'rebinding';

export interface Dhcpv6ClientSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly segment: Segment;
  readonly macAddress: string;
  readonly node: () => string;
  /** Its DUID. Clones have the same. */
  readonly clientIdentifier: Uint8Array;
  /** True if it asks whether its last address is still right when it restarts. */
  readonly remembersLease: boolean;
  readonly releasesAtEnd: boolean;
}

interface Lease {
  readonly address: string;
  readonly server: string;
  readonly boundAtMs: number;
  readonly renewMs: number;
  readonly rebindMs: number;
  readonly validMs: number;
}

/** How often a message is repeated. Source: RFC 8415 §7.6, §15. */
interface Retransmission {
  readonly firstMs: number;
  readonly mostMs: number;
  /** Until when, in milliseconds since the first one; default: without end. */
  readonly endMs?: number;
  /** What follows. */
  readonly otherwise?: () => void;
}

/** RFC 8415 allows an hour, RFC 7559 too: stories are shorter. */
const LONGEST_MS = 60_000;
const SOLICIT_DELAY_MS = 1_000;
const SOLICIT = { firstMs: 1_000, mostMs: LONGEST_MS };
const REQUEST = { firstMs: 1_000, mostMs: 30_000, endMs: 120_000 };
const CONFIRM = { firstMs: 1_000, mostMs: 4_000, endMs: 10_000 };
const RENEW = { firstMs: 10_000, mostMs: 600_000 };
const ROUTERS = { firstMs: 4_000, mostMs: LONGEST_MS };

export class Dhcpv6Client implements Ipv6Port {
  readonly macAddress: string;
  readonly node: () => string;
  readonly #settings: Dhcpv6ClientSettings;
  #state: Dhcpv6ClientState = 'off';
  #lease: Lease | undefined;
  /** Its last lease, also of an earlier run. */
  #remembered: Lease | undefined;
  #offer: { readonly address: string; readonly server: string } | undefined;
  #xid = 0;
  #beganAtMs = 0;
  #callOff: () => void = () => undefined;

  constructor(settings: Dhcpv6ClientSettings) {
    this.#settings = settings;
    this.macAddress = settings.macAddress;
    this.node = settings.node;
  }

  get state(): Dhcpv6ClientState {
    return this.#state;
  }

  /** The address that it uses. */
  readonly address = (): string | undefined => this.#lease?.address;

  /** The address that it currently asks for, once it knows one. */
  get asksFor(): string | undefined {
    if (this.#state === 'requesting') return this.#offer?.address;
    return this.#state === 'confirming' ? this.#remembered?.address : this.#lease?.address;
  }

  start(): void {
    this.#settings.segment.plugIpv6(this);
    this.#begin('waiting');
    this.#repeat(() => this.#settings.segment.solicitRouters(this), ROUTERS);
  }

  stop(): void {
    const lease = this.#lease;
    if (lease !== undefined && this.#settings.releasesAtEnd) this.#send('release', lease);
    this.unplug();
  }

  /** It is on this network no more, and did not know it would be. */
  unplug(): void {
    this.#enter('off');
    this.#lease = undefined;
    this.#settings.segment.unplugIpv6(this);
  }

  readonly onAdvertisement = (isManaged: boolean): void => {
    if (!isManaged || this.#state !== 'waiting') return;
    const last = this.#remembered;
    if (last !== undefined && this.#settings.remembersLease && this.#now() < last.boundAtMs + last.validMs) this.#confirm(last);
    else this.#solicit();
  };

  readonly receive = (packet: Dhcpv6Packet): void => {
    // Source: RFC 8415 §16.3, §16.10.
    const isOwn = packet.clientIdentifier === Buffer.from(this.#settings.clientIdentifier).toString('hex');
    if (packet.xid !== this.#xid || !isOwn) return;
    if (this.#state === 'soliciting' && packet.type === 'advertise') this.#request(packet);
    if (packet.type !== 'reply') return;
    if (this.#state === 'confirming') this.#onConfirmed(packet);
    else if (this.#state === 'requesting' || this.#state === 'renewing' || this.#state === 'rebinding') this.#onReply(packet);
  };

  #solicit(): void {
    this.#lease = undefined;
    this.#begin('soliciting');
    this.#later(this.#settings.random(SOLICIT_DELAY_MS), () => this.#repeat(() => this.#send('solicit', {}), SOLICIT));
  }

  #request({ addresses: [offered], serverIdentifier: server }: Pick<Dhcpv6Packet, 'addresses' | 'serverIdentifier'>): void {
    if (offered === undefined || server === undefined) return;
    const offer = { address: offered.address, server };
    this.#offer = offer;
    this.#begin('requesting');
    this.#repeat(() => this.#send('request', offer), { ...REQUEST, otherwise: () => this.#solicit() });
  }

  /** If nobody answers, it asks anew: others may have its address, and guests of the world do not probe for them. */
  #confirm(last: Lease): void {
    this.#begin('confirming');
    this.#repeat(() => this.#send('confirm', { address: last.address }), { ...CONFIRM, otherwise: () => this.#solicit() });
  }

  #onConfirmed({ status }: Dhcpv6Packet): void {
    if (status === 0 && this.#remembered !== undefined) this.#bind(this.#remembered);
    else this.#solicit();
  }

  #onReply({ addresses, serverIdentifier: server, renewSeconds, rebindSeconds }: Dhcpv6Packet): void {
    if (server === undefined) return;
    const assigned = addresses.find(({ validSeconds }) => validSeconds > 0);
    if (assigned === undefined) {
      this.#remembered = undefined;
      this.#solicit();
      return;
    }
    const validMs = assigned.validSeconds * 1_000;
    // 0: as the client likes. Source: RFC 8415 §21.4.
    const [renewMs, rebindMs] = [renewSeconds * 1_000 || validMs / 2, rebindSeconds * 1_000 || validMs * 0.8];
    this.#bind({ address: assigned.address, server, boundAtMs: this.#now(), renewMs, rebindMs, validMs });
  }

  #bind(lease: Lease): void {
    this.#lease = lease;
    this.#remembered = lease;
    this.#enter('bound');
    this.#later(Math.max(0, lease.boundAtMs + lease.renewMs - this.#now()), () => this.#renew(lease));
  }

  #renew(lease: Lease): void {
    this.#begin('renewing');
    const endMs = lease.boundAtMs + lease.rebindMs - this.#now();
    this.#repeat(() => this.#send('renew', lease), { ...RENEW, endMs, otherwise: () => this.#rebind(lease) });
  }

  #rebind(lease: Lease): void {
    this.#begin('rebinding');
    const endMs = lease.boundAtMs + lease.validMs - this.#now();
    this.#repeat(() => this.#send('rebind', { address: lease.address }), {
      ...{ ...RENEW, endMs },
      otherwise: () => this.#solicit(),
    });
  }

  #begin(state: Dhcpv6ClientState): void {
    this.#enter(state);
    this.#xid = this.#settings.random(2 ** 24);
    this.#beganAtMs = this.#now();
  }

  #enter(state: Dhcpv6ClientState): void {
    this.#callOff();
    this.#state = state;
  }

  /** Sends now, and again after times that double, plus or minus a tenth. Source: RFC 8415 §15. */
  #repeat(send: () => void, retransmission: Retransmission): void {
    const { firstMs, mostMs, endMs = Number.POSITIVE_INFINITY, otherwise = () => undefined } = retransmission;
    const leftMs = this.#beganAtMs + endMs - this.#now();
    if (leftMs <= 0) {
      otherwise();
      return;
    }
    send();
    const waitMs = Math.min(firstMs, mostMs) * (0.9 + this.#settings.random(200) / 1_000);
    this.#later(Math.min(waitMs, leftMs), () => this.#repeat(send, { ...retransmission, firstMs: 2 * waitMs }));
  }

  #send(type: Dhcpv6Type, { address, server }: { readonly address?: string; readonly server?: string }): void {
    const { segment, clientIdentifier } = this.#settings;
    const elapsedMs = this.#now() - this.#beganAtMs;
    const xid = this.#xid;
    segment.sendDhcpv6(this, writeDhcpv6({ type, xid, elapsedMs, clientIdentifier, serverIdentifier: server, address }));
  }

  #later(ms: number, run: () => void): void {
    this.#callOff = this.#settings.scheduler.after(ms, run);
  }

  #now(): number {
    return this.#settings.scheduler.nowMs();
  }
}
