/** The history of addresses in the API, from a watch of IPPools that any client could have. */
import {
  formatIpv6Address,
  parseIpv4Address,
  parseIpv4Range,
  parseIpv6Prefix,
  rangeContains,
} from '@vmdhcp/dhcp-allocator/address';
import { readField, readList } from '@vmdhcp/kube-runtime';
import type { ApiObject } from '@vmdhcp/kube-simulator';

interface Span {
  readonly macAddress: string;
  readonly fromMs: number;
  untilMs: number;
}

const MAC_ADDRESS = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

/** What a history is about, and where it is in an IPPool. */
const FAMILIES = {
  ipv4: { config: 'ipv4Config', recorded: recordedIn },
  ipv6: { config: 'ipv6Config', recorded: ipv6RecordedIn },
} as const;

export class AddressHistory {
  readonly #family: (typeof FAMILIES)[keyof typeof FAMILIES];
  /** By address. */
  readonly #spans = new Map<string, Span[]>();
  /** All lease times that the pool has had, in seconds. */
  readonly leaseTimes = new Set<number>();

  constructor(family: keyof typeof FAMILIES) {
    this.#family = FAMILIES[family];
  }

  /** Notes the new version of the IPPool. */
  note(pool: ApiObject | undefined, nowMs: number): void {
    const { config, recorded } = this.#family;
    const leaseTime = readField(pool?.['spec'], config, 'leaseTime');
    if (typeof leaseTime === 'number') this.leaseTimes.add(leaseTime);
    this.#noteRecorded(recorded(pool), nowMs);
  }

  #noteRecorded(recorded: ReadonlyMap<string, string>, nowMs: number): void {
    for (const [address, spans] of this.#spans) {
      const last = spans.at(-1);
      if (last?.untilMs === Number.POSITIVE_INFINITY && recorded.get(address) !== last.macAddress) last.untilMs = nowMs;
    }
    for (const [address, macAddress] of recorded) {
      const spans = this.#spans.get(address) ?? [];
      this.#spans.set(address, spans);
      if (spans.at(-1)?.untilMs !== Number.POSITIVE_INFINITY)
        spans.push({ macAddress, fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY });
    }
  }

  /** The client that the address is recorded for. */
  ownerOf(address: string): string | undefined {
    const last = this.#spans.get(address)?.at(-1);
    return last?.untilMs === Number.POSITIVE_INFINITY ? last.macAddress : undefined;
  }

  /** True if the address was recorded for this client at some time since then. */
  wasRecorded(address: string, macAddress: string, sinceMs: number): boolean {
    return (this.#spans.get(address) ?? []).some((span) => span.macAddress === macAddress && span.untilMs >= sinceMs);
  }

  /** True if the address has been recorded for this client all the time since then. */
  isRecordedSince(address: string, macAddress: string, sinceMs: number): boolean {
    const last = this.#spans.get(address)?.at(-1);
    return last?.macAddress === macAddress && last.fromMs <= sinceMs && last.untilMs === Number.POSITIVE_INFINITY;
  }
}

/** Address to MAC address; other entries (exclusions, the server) are left out. */
export function recordedIn(pool: ApiObject | undefined): ReadonlyMap<string, string> {
  const allocated = (readField(pool?.['status'], 'ipv4', 'allocated') ?? {}) as Readonly<Record<string, string>>;
  return new Map(Object.entries(allocated).filter(([, value]) => MAC_ADDRESS.test(value)));
}

/** The IPv6 addresses of the same clients: each is as far from the start of its prefix as their IPv4 address from the start of its /24. */
export function ipv6RecordedIn(pool: ApiObject | undefined): ReadonlyMap<string, string> {
  const prefix = parseIpv6Prefix(String(readField(pool?.['spec'], 'ipv6Config', 'cidr')));
  if (prefix === undefined) return new Map();
  const beside = (address: string) => formatIpv6Address(prefix.network + BigInt((parseIpv4Address(address) ?? 0) & 255));
  return new Map([...recordedIn(pool)].map(([address, macAddress]) => [beside(address), macAddress]));
}

/** True if the spec of the pool allows the address, apart from exclusions, which no pool of the world has. */
export function isInRanges(pool: ApiObject | undefined, text: string): boolean {
  const address = parseIpv4Address(text) ?? 0;
  const written = readField(pool?.['spec'], 'ipv4Config', 'pool');
  const ranges = readList(written, 'ranges').map(String);
  const all = ranges.length > 0 ? ranges : [`${String(readField(written, 'start'))}-${String(readField(written, 'end'))}`];
  return all.some((range) => rangeContains(parseIpv4Range(range) ?? { first: 1, last: 0 }, address));
}
