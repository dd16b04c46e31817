/**
 * Messages between `ip` (iproute2 6.1) and a kernel 6.x, recorded with strace in a network namespace whose interface `net1` has index 5.
 * For tests.
 */
import { decodeAttributes } from './netlink-attributes.js';
import { type NetlinkRequest, writeRequest } from './netlink-message.js';

export const RECORDED_REQUESTS = {
  'ip address add 192.168.48.2/24 dev net1 valid_lft 10 preferred_lft 10 noprefixroute':
    '440000001400050634f8026b00000000021800000500000008000200c0a83002080008000002000008000100c0a83002140006000a0000000a0000000000000000000000',
  'ip address del 192.168.48.2/24 dev net1': '280000001500050034f8026b00000000021800000500000008000200c0a8300208000100c0a83002',
  'ip rule add iif net1 priority 900 blackhole':
    '300000002000050634f8026b00000000020000000000000600000000090003006e657431000000000800060084030000',
  'ip -6 rule add iif net1 priority 900 blackhole':
    '300000002000050634f8026b000000000a0000000000000600000000090003006e657431000000000800060084030000',
  'ip rule add from 192.168.48.2 priority 950 lookup 670000005':
    '340000002000050634f8026b0000000002002000000000010000000008000200c0a8300208000600b603000008000f008563ef27',
  'ip route add default dev net1 table 670000005 scope link proto static':
    '2c0000001800050634f8026b00000000020000000004fd010000000008000f008563ef270800040005000000',
  'ip link set net1 up': '200000001000050034f8026b0000000000000000050000000100000001000000',
} as const;

/** The sequence number of each message. */
export const RECORDED_SEQUENCE = 0x6b02f834;

export const RECORDED_ANSWERS = {
  done: '240000000200000134f8026bfd65000000000000440000001400050634f8026b00000000',
  'File exists':
    '600000000200000234f8026b0a660000efffffff280000001400050634f8026b00000000021800000500000008000200c0a8300208000100c0a8300223000100697076343a204164647265737320616c72656164792061737369676e65640000',
  /** The answer to `ip -4 address show dev net1`: 192.168.48.2/24 for ten seconds, 10.0.0.1/8, and 192.0.2.1 with 192.0.2.9 at the other end. */
  addresses:
    '500000001400220035f8026b15660000021800000500000008000100c0a8300208000200c0a83002090003006e657431000000000800080000020000140006000a0000000a00000048b4170048b41700500000001400220035f8026b156600000208800005000000080001000a000001080002000a000001090003006e65743100000000080008008000000014000600ffffffffffffffff50b4170050b41700500000001400220035f8026b15660000022080000500000008000100c000020908000200c0000201090003006e65743100000000080008008000000014000600ffffffffffffffff50b4170050b41700',
  'end of a list': '140000000300220035f8026b1566000000000000',
} as const;

/** A request by its parts: attributes in any order, as the kernel reads them. */
export interface ReadRequest {
  readonly header: string;
  readonly body: string;
  readonly attributes: Readonly<Record<number, string>>;
}

/** The content of a recorded request. @param bodyLength - octets of the structure that it begins with. */
export function readRecorded(command: keyof typeof RECORDED_REQUESTS, bodyLength: number): ReadRequest {
  return read(Buffer.from(RECORDED_REQUESTS[command], 'hex'), bodyLength);
}

/** The same for one of our requests. */
export function readWritten(request: NetlinkRequest): ReadRequest {
  const octets = Buffer.alloc(512);
  return read(octets.subarray(0, writeRequest(octets, request, RECORDED_SEQUENCE)), request.body.length);
}

function read(octets: Buffer, bodyLength: number): ReadRequest {
  const end = 16 + bodyLength;
  const attributes = [...decodeAttributes(octets.subarray(end))].map(([type, value]) => [type, value.toString('hex')]);
  return {
    header: octets.subarray(0, 16).toString('hex'),
    body: octets.subarray(16, end).toString('hex'),
    attributes: Object.fromEntries(attributes),
  };
}
