import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { type IscLeaseProblem, type IscLeaseReading, isBrokenFile } from '@vmdhcp/dhcp-allocator/isc-leases';

const MOST_SHOWN = 20;

/** The octets with which a compressed file begins, a character for each. */
const COMPRESSIONS: readonly (readonly [start: string, name: string, remedy: string])[] = [
  ['\u001f\u008b', 'gzip', 'gunzip'],
  ['\u00fd7zXZ\0', 'xz', 'unxz'],
  ['BZh', 'bzip2', 'bunzip2'],
  ['\u0028\u00b5\u002f\u00fd', 'zstd', 'unzstd'],
];

/** What is wrong with a text that is no lease file at all; undefined: it may be one. @param text - a character for each octet. */
export function describeOtherFile(text: string, reading: IscLeaseReading): string | undefined {
  const compression = COMPRESSIONS.find(([start]) => text.startsWith(start));
  if (compression !== undefined) return `is compressed (${compression[1]}): unpack it with ${compression[2]}, then import it`;
  const { entryCount, unreadable, skipped, problems } = reading;
  const isOther =
    entryCount === 0 && unreadable.length === 0 && skipped.size === 0 && problems.length > 0 && problems.every(isBrokenFile);
  return isOther
    ? 'is no lease file of ISC dhcpd: no statement of one is in it; name its dhcpd.leases, as /var/lib/dhcp/dhcpd.leases'
    : undefined;
}

/** A line for each of the first problems, and how many more there are. */
export function describeIscProblems(path: string, problems: readonly IscLeaseProblem[]): string[] {
  const lines = problems.slice(0, MOST_SHOWN).map((problem) => describeProblem(path, problem));
  const rest = problems.length - lines.length;
  return rest > 0 ? [...lines, `${path}: ${rest} more problems; --json has all of them`] : lines;
}

function describeProblem(path: string, { line, address, message }: IscLeaseProblem): string {
  return `${path}:${line}: ${address === undefined ? '' : `lease ${formatIpv4Address(address)}: `}${message}`;
}
