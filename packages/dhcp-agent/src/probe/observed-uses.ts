/**
 * Finds hosts that use addresses of a pool which are not theirs: guests with a fixed address, or with that of another machine. It hears ARP and sends
 * nothing, until an address is heard from a host that does not have it. Then it asks who uses the address, because a packet may contain anything.
 */
import { type Ipv4Address, type Lease, type MacAddress, type Pool, rangeContains } from '@vmdhcp/dhcp-allocator';
import type { ObservedUse } from '@vmdhcp/reconciler/pool';
import type { AddressListener, AgentObserver, HeardAddress } from '../ports.js';
import type { FindAddressUsers } from './address-users.js';

/** A use is asked about again at this interval, and forgotten when nobody answers. */
const ASK_AGAIN_MS = 600_000;
/** An address is asked about at most once in this time because of what is heard, whoever answered. */
const DOUBT_MS = 60_000;
const LISTEN_AGAIN_MS = 60_000;
/** For each pool: a hostile guest can forge uses, and all of them are reported. */
const MOST_USES = 64;
/** A host with more addresses of others is a router or forges them. */
const MOST_USES_OF_HOST = 4;
const MOST_DOUBTS = 1_024;
const MOST_ASKED = 8;

export interface ObservedUsesPorts {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly interfaceName: string;
  /** 0 if there is no such interface; another one of the same name has another index. */
  readonly interfaceIndex: () => number;
  /** @throws Error */
  readonly listen: (lowest: Ipv4Address, highest: Ipv4Address) => AddressListener;
  readonly findUsers: FindAddressUsers;
  /** The client that has the address. */
  readonly ownerOf: (poolName: string, address: Ipv4Address) => MacAddress | undefined;
  /** The uses have changed. */
  readonly onChange: () => void;
}

interface OpenListener {
  readonly of: string;
  readonly listener: AddressListener;
}

interface ConfirmedUse {
  readonly use: ObservedUse;
  readonly askedAtMs: number;
}

interface AnsweredQuestion {
  readonly address: Ipv4Address;
  readonly assignedTo: MacAddress | undefined;
  /** Undefined if nobody else answers. */
  readonly usedBy: MacAddress | undefined;
}

/** Finds the uses of one pool's addresses. */
export class ObservedUses {
  readonly #ports: ObservedUsesPorts;
  readonly #uses = new Map<Ipv4Address, ConfirmedUse>();
  /** When these were asked about in vain. */
  readonly #doubts = new Map<Ipv4Address, number>();
  readonly #asked = new Set<Ipv4Address>();
  #open: OpenListener | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ports: ObservedUsesPorts) {
    this.#ports = ports;
  }

  /** The confirmed uses, in the order in which they were found; at most 64. */
  uses(): ObservedUse[] {
    return [...this.#uses.values()].map(({ use }) => use);
  }

  /** Hears what was sent since the last call. Call it every second. @param pool - undefined: stop listening */
  look(pool: Pool | undefined): void {
    const listener = this.#listen(pool);
    if (pool === undefined || listener === undefined) return;
    // First, so that a flood of others does not keep a use from its end.
    for (const one of [...this.#uses.values()]) this.#review(pool, one);
    for (const one of listener.heard()) this.#note(pool, one);
  }

  #review(pool: Pool, { use: { address, usedBy, assignedTo }, askedAtMs }: ConfirmedUse): void {
    const owner = this.#ports.ownerOf(pool.name, address);
    if (owner === usedBy || !isOfClients(pool, address)) {
      this.#uses.delete(address);
      this.#ports.onChange();
    } else if (owner !== assignedTo || this.#ports.nowMs() - askedAtMs >= ASK_AGAIN_MS) this.#ask(pool, address);
  }

  #listen(pool: Pool | undefined): AddressListener | undefined {
    const { interfaceIndex, interfaceName, listen, nowMs, observer } = this.#ports;
    const of = pool === undefined ? '' : `${interfaceIndex()} ${pool.range.first} ${pool.range.last}`;
    if (this.#open?.of === of) return this.#open.listener;
    this.#open?.listener.close();
    this.#open = undefined;
    if (pool === undefined) this.#forget();
    if (pool === undefined || nowMs() - this.#failedAtMs < LISTEN_AGAIN_MS) return undefined;
    try {
      this.#open = { of, listener: listen(pool.range.first, pool.range.last) };
    } catch (error) {
      this.#failedAtMs = nowMs();
      observer.observe({ kind: 'addresses-not-heard', interfaceName, error });
    }
    return this.#open?.listener;
  }

  #forget(): void {
    this.#uses.clear();
    this.#doubts.clear();
  }

  #note(pool: Pool, { address, macAddress }: HeardAddress): void {
    // Packets that came in before the socket had its filter may have any address.
    if (!isOfClients(pool, address) || this.#ports.ownerOf(pool.name, address) === macAddress) return;
    const known = this.#uses.get(address);
    const askedAtMs = known?.askedAtMs ?? this.#doubts.get(address) ?? Number.NEGATIVE_INFINITY;
    if (this.#ports.nowMs() - askedAtMs < DOUBT_MS) return;
    if (known?.use.usedBy !== macAddress && this.#hasRoom(address, macAddress)) this.#ask(pool, address);
  }

  #hasRoom(address: Ipv4Address, macAddress: MacAddress): boolean {
    const others = [...this.#uses.values()].filter(({ use }) => use.address !== address);
    return others.length < MOST_USES && others.filter(({ use }) => use.usedBy === macAddress).length < MOST_USES_OF_HOST;
  }

  #ask(pool: Pool, address: Ipv4Address): void {
    if (this.#asked.size >= MOST_ASKED || this.#asked.has(address)) return;
    this.#asked.add(address);
    void this.#findUser(pool, address).finally(() => this.#asked.delete(address));
  }

  async #findUser({ name: poolName }: Pool, address: Ipv4Address): Promise<void> {
    const { findUsers, interfaceName, observer, ownerOf } = this.#ports;
    const assignedTo = ownerOf(poolName, address);
    const question: Lease = { poolName, address, macAddress: assignedTo ?? '' };
    try {
      const { others } = await findUsers(interfaceName, question);
      // Unless it no longer listens, or the address has changed hands meanwhile.
      if (this.#open !== undefined && ownerOf(poolName, address) === assignedTo)
        this.#record(poolName, { address, assignedTo, usedBy: others[0] });
    } catch (error) {
      observer.observe({ kind: 'address-not-probed', interfaceName, error });
    }
  }

  #record(pool: string, { address, assignedTo, usedBy }: AnsweredQuestion): void {
    const { nowMs, observer, onChange } = this.#ports;
    const before = this.#uses.get(address)?.use;
    if (usedBy !== undefined && this.#hasRoom(address, usedBy)) {
      const use = { address, usedBy, ...(assignedTo !== undefined && { assignedTo }) };
      this.#uses.set(address, { use, askedAtMs: nowMs() });
      if (before?.usedBy === usedBy && before.assignedTo === assignedTo) return;
      observer.observe({ kind: 'observed-use', pool, address, usedBy, assignedTo });
      onChange();
      return;
    }
    this.#doubt(address);
    if (this.#uses.delete(address)) onChange();
  }

  #doubt(address: Ipv4Address): void {
    this.#doubts.delete(address);
    this.#doubts.set(address, this.#ports.nowMs());
    const [oldest] = this.#doubts.keys();
    if (this.#doubts.size > MOST_DOUBTS && oldest !== undefined) this.#doubts.delete(oldest);
  }
}

function isOfClients({ range, unavailable }: Pool, address: Ipv4Address): boolean {
  return rangeContains(range, address) && !unavailable.some((one) => rangeContains(one, address));
}
