import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { ServerAddress, ServerAddressKernel } from '../ports.js';
import type { FakeProcess } from './fake-process.js';

/** How late a kernel removes an address. Source: net/ipv4/devinet.c, check_lifetime. */
const MOST_LATE_MS = 250;
const FOR_EVER_SECONDS = 0xffffffff;

/** When an address was on an interface. */
export interface AddressSpan {
  readonly owner: string;
  readonly interfaceName: string;
  readonly address: Ipv4Address;
  readonly fromMs: number;
  /** Infinity for no end. */
  readonly untilMs: number;
}

/** The kernel of a fake pod: its owner, its process, and its randomness. */
export interface FakeKernelSettings {
  /** The name of the pod, for spans. */
  readonly owner: string;
  readonly process: FakeProcess;
  /** 0 up to, not including, 1. Default: 0. */
  readonly random?: () => number;
}

interface Entry {
  readonly address: ServerAddress;
  readonly fromMs: number;
  untilMs: number;
}

/**
 * The interfaces of one pod and their addresses, like in Linux: an address is removed when its lifetime is over, up to a quarter of a second late,
 * whatever happened to the process that added it.
 */
export class FakeKernel implements ServerAddressKernel {
  readonly #settings: Required<FakeKernelSettings>;
  readonly #links = new Map<string, number>();
  readonly #entries = new Map<string, Entry>();
  readonly #ended: AddressSpan[] = [];
  readonly announced: string[] = [];
  #lastIndex = 6;
  /** Called for each kernel call: how long the process is frozen before it. Default: 1 ms. */
  callMs: () => number = () => 1;
  /** Called for each address of a call: its error. `isDone`: the kernel did it nevertheless. Default: none. */
  failure: (call: 'add' | 'remove', address: ServerAddress) => { readonly error: Error; readonly isDone: boolean } | undefined =
    () => undefined;
  /** Called for each announcement. */
  announcementFails = false;

  constructor(settings: FakeKernelSettings) {
    this.#settings = { random: () => 0, ...settings };
  }

  /** Creates the interface, or another one of the same name. Returns its index. */
  addLink(interfaceName: string): number {
    this.removeLink(interfaceName);
    this.#links.set(interfaceName, ++this.#lastIndex);
    return this.#lastIndex;
  }

  /** Removes the interface and its addresses. */
  removeLink(interfaceName: string): void {
    this.#links.delete(interfaceName);
    for (const [key, { address }] of this.#entries) if (address.interfaceName === interfaceName) this.#end(key, this.#nowMs());
  }

  readonly indexOf = (interfaceName: string): number => this.#links.get(interfaceName) ?? 0;

  readonly add: ServerAddressKernel['add'] = (addresses, seconds) => {
    this.#settings.process.freeze(this.callMs());
    return addresses.map((address) => {
      if (this.indexOf(address.interfaceName) !== address.interfaceIndex) return new Error('ENODEV');
      const failure = this.failure('add', address);
      if (failure === undefined || failure.isDone) this.#put(address, seconds);
      return failure?.error;
    });
  };

  readonly remove: ServerAddressKernel['remove'] = (addresses) => {
    this.#settings.process.freeze(this.callMs());
    const outcomes = addresses.map((address) => {
      const failure = this.failure('remove', address);
      if (failure === undefined || failure.isDone) this.#end(keyOf(address), this.#nowMs());
      return failure === undefined;
    });
    return outcomes.every(Boolean);
  };

  readonly announce: ServerAddressKernel['announce'] = (interfaceName) => {
    if (this.announcementFails) throw new Error('ENETDOWN');
    this.announced.push(interfaceName);
  };

  /** True if the interface has the address now. */
  has(interfaceName: string, address: Ipv4Address): boolean {
    const nowMs = this.#nowMs();
    return this.spans().some(
      (span) => span.interfaceName === interfaceName && span.address === address && span.fromMs <= nowMs && nowMs < span.untilMs,
    );
  }

  /** When addresses were, are and will be on interfaces if nothing changes any more. */
  spans(): AddressSpan[] {
    return [...this.#ended, ...[...this.#entries.values()].map((entry) => this.#toSpan(entry))];
  }

  #nowMs(): number {
    return this.#settings.process.timeMs;
  }

  #put(address: ServerAddress, seconds: number): void {
    const key = keyOf(address);
    const nowMs = this.#nowMs();
    const known = this.#entries.get(key);
    const lateMs = Math.floor(this.#settings.random() * (MOST_LATE_MS + 1));
    const untilMs = seconds === FOR_EVER_SECONDS ? Number.POSITIVE_INFINITY : nowMs + seconds * 1000 + lateMs;
    if (known !== undefined && known.untilMs > nowMs) known.untilMs = untilMs;
    else {
      this.#end(key, nowMs);
      this.#entries.set(key, { address, fromMs: nowMs, untilMs });
    }
  }

  #end(key: string, atMs: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#ended.push({ ...this.#toSpan(entry), untilMs: Math.min(entry.untilMs, atMs) });
  }

  #toSpan({ address: { interfaceName, address }, fromMs, untilMs }: Entry): AddressSpan {
    return { owner: this.#settings.owner, interfaceName, address, fromMs, untilMs };
  }
}

function keyOf({ interfaceName, interfaceIndex, address }: ServerAddress): string {
  return `${interfaceName} ${interfaceIndex} ${address}`;
}
