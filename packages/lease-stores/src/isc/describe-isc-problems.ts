import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { type IscLeaseProblem, type IscLeaseReading, isBrokenFile } from '@vmdhcp/dhcp-allocator/isc-leases';

const MOST_SHOWN = 20;

/** The first octets of a compressed file, one character each. */
const COMPRESSIONS: readonly (readonly [start: string, name: string, remedy: string])[] = [
  ['\u001f\u008b', 'gzip', 'gunzip'],
  ['\u00fd7zXZ\0', 'xz', 'unxz'],
  ['BZh', 'bzip2', 'bunzip2'],
  ['\u0028\u00b5\u002f\u00fd', 'zstd', 'unzstd'],
];

/** Says why a text cannot be a lease file; undefined if it may be one. @param text - one character for each octet. */
export function describeOtherFile(text: string, reading: IscLeaseReading): string | undefined {
  const compression = COMPRESSIONS.find(([start]) => text.startsWith(start));
  if (compression !== undefined) return `is compressed (${compression[1]}): unpack it with ${compression[2]}, then import it`;
  const { entryCount, unreadable, skipped, problems } = reading;
  const isOther =
    entryCount === 0 && unreadable.length === 0 && skipped.size === 0 && problems.length > 0 && problems.every(isBrokenFile);
  return isOther
    ? 'is not a lease file of ISC dhcpd: it contains no statement of one; give the path of its dhcpd.leases, such as /var/lib/dhcp/dhcpd.leases'
    : undefined;
}

/** Yields one line for each of the first problems, and one with the number of the others. */
export function describeIscProblems(path: string, problems: readonly IscLeaseProblem[]): string[] {
  const lines = problems.slice(0, MOST_SHOWN).map((problem) => describeProblem(path, problem));
  const rest = problems.length - lines.length;
  return rest > 0 ? [...lines, `${path}: ${rest} more problems; --json has all of them`] : lines;
}

function describeProblem(path: string, { line, address, message }: IscLeaseProblem): string {
  return `${path}:${line}: ${address === undefined ? '' : `lease ${formatIpv4Address(address)}: `}${message}`;
}
