import { formatIpv4Address, type Ipv4Address, parseIpv4Address } from './ipv4-address.js';

/** Addresses from `first` to `last`, both included; `first <= last`. */
export interface Ipv4Range {
  readonly first: Ipv4Address;
  readonly last: Ipv4Address;
}

/** The range that `text` spells as one address or as `a-b`, or undefined; also when `a` is above `b`. */
export function parseIpv4Range(text: string): Ipv4Range | undefined {
  const [firstText = '', lastText = firstText, ...rest] = text.split('-').map((part) => part.trim());
  const first = parseIpv4Address(firstText);
  const last = parseIpv4Address(lastText);
  if (first === undefined || last === undefined || rest.length > 0 || first > last) return undefined;
  return { first, last };
}

/** `10.0.0.5` for a single address, `10.0.0.5-10.0.0.9` otherwise. */
export function formatIpv4Range(range: Ipv4Range): string {
  const first = formatIpv4Address(range.first);
  return range.first === range.last ? first : `${first}-${formatIpv4Address(range.last)}`;
}

/** How many addresses the range holds, 1 to 2^32. */
export function sizeOfRange(range: Ipv4Range): number {
  return range.last - range.first + 1;
}

/** True for an address from the first to the last one of the range, both included. */
export function rangeContains(range: Ipv4Range, address: Ipv4Address): boolean {
  return address >= range.first && address <= range.last;
}

/** The part both ranges share, or undefined. */
export function intersectRanges(one: Ipv4Range, other: Ipv4Range): Ipv4Range | undefined {
  const first = Math.max(one.first, other.first);
  const last = Math.min(one.last, other.last);
  return first <= last ? { first, last } : undefined;
}

/** The same addresses as sorted ranges that neither overlap nor touch. */
export function mergeRanges(ranges: readonly Ipv4Range[]): Ipv4Range[] {
  const merged: Ipv4Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.first - other.first)) {
    const previous = merged.at(-1);
    if (previous !== undefined && range.first <= previous.last + 1) {
      merged[merged.length - 1] = { first: previous.first, last: Math.max(previous.last, range.last) };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

/** True if one of the ranges contains the address. @param ranges - sorted, as `mergeRanges` returns them. */
export function rangesContain(ranges: readonly Ipv4Range[], address: Ipv4Address): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.last ?? 0) < address) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && rangeContains(range, address);
}

/** The addresses of `ranges` that `others` do not contain. @param ranges, others - sorted, as `mergeRanges` returns them. */
export function subtractRanges(ranges: readonly Ipv4Range[], others: readonly Ipv4Range[]): Ipv4Range[] {
  let from = 0;
  return ranges.flatMap((range) => {
    const left: Ipv4Range[] = [];
    let { first } = range;
    // A range that ends before this one also ends before every later one.
    while (from < others.length && (others[from] as Ipv4Range).last < first) from++;
    for (let index = from; index < others.length && (others[index] as Ipv4Range).first <= range.last; index++) {
      const other = others[index] as Ipv4Range;
      if (other.first > first) left.push({ first, last: other.first - 1 });
      first = other.last + 1;
    }
    if (first <= range.last) left.push({ first, last: range.last });
    return left;
  });
}
