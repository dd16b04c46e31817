/** Network namespaces that `ip netns` made, read in this process, because a program for each check would take milliseconds. */
import { closeSync, openSync } from 'node:fs';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { Netlink } from '@vmdhcp/linux-sockets';
import koffi from 'koffi';

const setns = koffi.load(null).func('int setns(int fd, int type)') as (fd: number, type: number) => number;
const CLONE_NEWNET = 0x40000000;
const RTM_GETADDR = 22;
const AF_INET = 2;
/** `struct ifaddrmsg`, before the attributes. */
const IFADDRMSG_LENGTH = 8;
const IFA_LOCAL = 2;
/** The name of the interface, where an address has no other label. */
const IFA_LABEL = 3;

/**
 * The IPv4 addresses of an interface with prefix length, as `ip` shows them; none if it does not exist.
 * @throws Error where there is no such namespace
 */
export function addressesIn(namespace: string, interfaceName: string): string[] {
  const kernel = openNetlink(namespace);
  try {
    const body = Buffer.alloc(IFADDRMSG_LENGTH);
    body.writeUInt8(AF_INET);
    return kernel
      .list('list the addresses', { type: RTM_GETADDR, body, attributes: [] })
      .flatMap((entry) => readEntry(entry))
      .filter(({ label }) => label === interfaceName)
      .map(({ address }) => address);
  } finally {
    kernel.close();
  }
}

/** A routing socket stays in the namespace that it was opened in: the thread is there only meanwhile. */
function openNetlink(namespace: string): Netlink {
  const other = openSync(`/run/netns/${namespace}`, 'r');
  const own = openSync('/proc/self/ns/net', 'r');
  try {
    enter(other);
    try {
      return new Netlink();
    } finally {
      enter(own);
    }
  } finally {
    closeSync(own);
    closeSync(other);
  }
}

function enter(namespace: number): void {
  if (setns(namespace, CLONE_NEWNET) !== 0)
    throw new Error('the network namespace cannot be entered: it is gone, or never was one');
}

function readEntry(entry: Buffer): readonly { readonly address: string; readonly label: string }[] {
  const values = readAttributes(entry.subarray(IFADDRMSG_LENGTH));
  const local = values.get(IFA_LOCAL);
  if (local === undefined) return [];
  const label = values.get(IFA_LABEL)?.toString('latin1').split('\0')[0] ?? '';
  return [{ address: `${formatIpv4Address(local.readUInt32BE())}/${entry.readUInt8(1)}`, label }];
}

/** Each has its length and type before it, and begins at a multiple of four. */
function readAttributes(bytes: Buffer): Map<number, Buffer> {
  const values = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = Math.max(bytes.readUInt16LE(at), 4);
    values.set(bytes.readUInt16LE(at + 2), bytes.subarray(at + 4, at + length));
    at += (length + 3) & ~3;
  }
  return values;
}
