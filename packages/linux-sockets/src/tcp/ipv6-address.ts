import { isIPv6 } from 'node:net';

/** The sixteen octets of an IPv6 address without a zone, as `isIPv6` of Node takes it. @throws TypeError for anything else. */
export function ipv6Octets(text: string): Buffer {
  if (!isIPv6(text) || text.includes('%')) throw new TypeError(`${text} is not an IPv6 address`);
  const [head = '', tail] = text.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const octets = Buffer.alloc(16);
  Buffer.concat(before).copy(octets);
  const end = Buffer.concat(after);
  end.copy(octets, 16 - end.length);
  return octets;
}

/** `fd00:5` as two groups of two octets, `1.2.3.4` as one of four. */
function groupsOf(text: string): Buffer[] {
  return text
    .split(':')
    .filter((group) => group !== '')
    .map((group) =>
      group.includes('.') ? Buffer.from(group.split('.').map(Number)) : Buffer.from(group.padStart(4, '0'), 'hex'),
    );
}
