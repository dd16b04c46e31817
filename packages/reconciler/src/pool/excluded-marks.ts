/**
 * Selects the excluded addresses in `status.ipv4.allocated`. These marks are only for people, because the spec has the exclusions. Their number is
 * limited, because the size of the object sets the price of every write, and etcd refuses more than 1.5 MiB.
 */
import { type Ipv4Address, type Ipv4Range, parseIpv4Range, sizeOfRange } from '@vmdhcp/dhcp-allocator';
import { readList } from '@vmdhcp/kube-runtime';

/** The maximum number of excluded addresses in a status. */
export const MOST_EXCLUDED_MARKS = 1_024;
/** Ranges up to this size are listed address by address. */
const MOST_MARKS_OF_A_RANGE = 256;

interface ExcludedMarks {
  /** At most `MOST_EXCLUDED_MARKS`. */
  readonly addresses: readonly Ipv4Address[];
  /** How many ranges the spec excludes, and how many of them are not listed. */
  readonly counts: { readonly ranges: number; readonly unlisted: number };
}

/** The marks of a pool with this spec: ranges in the order of the spec, each whole or not at all. */
export function excludedMarks(spec: unknown): ExcludedMarks {
  const ranges = excludedRanges(spec);
  const addresses = new Set<Ipv4Address>();
  let unlisted = 0;
  for (const range of ranges) {
    const size = sizeOfRange(range);
    if (size > MOST_MARKS_OF_A_RANGE || addresses.size + size > MOST_EXCLUDED_MARKS) unlisted++;
    else for (let address = range.first; address <= range.last; address++) addresses.add(address);
  }
  return { addresses: [...addresses], counts: { ranges: ranges.length, unlisted } };
}

/** An explanation for a person who misses a mark; undefined if every excluded address is listed. */
export function describeUnlisted(spec: unknown): string | undefined {
  const { ranges, unlisted } = excludedMarks(spec).counts;
  if (unlisted === 0) return undefined;
  return `${unlisted} of ${ranges} excluded ranges are not listed in status.ipv4.allocated, which lists at most ${MOST_EXCLUDED_MARKS} excluded addresses and no range of more than ${MOST_MARKS_OF_A_RANGE}; nothing is wrong: no client gets an excluded address, listed or not`;
}

function excludedRanges(spec: unknown): Ipv4Range[] {
  return readList(spec, 'ipv4Config', 'pool', 'exclude').flatMap((entry) => {
    const range = typeof entry === 'string' ? parseIpv4Range(entry) : undefined;
    return range === undefined ? [] : [range];
  });
}
