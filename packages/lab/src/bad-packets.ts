/**
 * What no honest client sends, and what becomes of it. We are 192.168.48.2, the good client is 02:00:00:00:48:01 at
 * 192.168.48.10, and 192.168.48.11 belongs to somebody else.
 */
import { encodeMessage } from '@vmdhcp/dhcp-allocator';

export interface BadPacket {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** `dropped REASON`, or `TYPE OUTCOME REASON`, in the words of the metrics. */
  readonly outcome: string;
}

type Option = readonly [code: number, value: readonly number[]];

interface Fields {
  readonly op?: number;
  readonly hlen?: number;
  readonly mac?: readonly number[];
  readonly ciaddr?: number;
  readonly giaddr?: number;
}

const GOOD_CLIENT = [2, 0, 0, 0, 0x48, 1];
const STRANGER = [2, 0, 0, 0, 0x48, 0xee];
const SERVER: Option = [54, [192, 168, 48, 2]];
const address = (last: number, third = 48): number => 0xc0a80000 + third * 256 + last;
const wanting = (last: number, third = 48): Option => [50, [192, 168, third, last]];
const TYPES = { discover: 1, request: 3, decline: 4, release: 7, inform: 8 };
const OPTIONS_AT = 240;

function packet(
  options: readonly Option[],
  { op = 1, hlen = 6, mac = GOOD_CLIENT, ciaddr = 0, giaddr = 0 }: Fields = {},
): Uint8Array {
  return encodeMessage({
    ...{ op, htype: 1, hlen, hops: 0, xid: 0xbad0_0001, secs: 0, flags: 0, ciaddr, yiaddr: 0, siaddr: 0, giaddr },
    chaddr: Uint8Array.from(mac),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: options.map(([code, value]) => [code, Uint8Array.from(value)]),
  }).bytes;
}

function message(type: keyof typeof TYPES, options: readonly Option[] = [], fields?: Fields): Uint8Array {
  return packet([[53, [TYPES[type]]], ...options], fields);
}

/** A DISCOVER whose options are exactly these octets. */
function withRawOptions(octets: readonly number[], length = 300): Uint8Array {
  const bytes = new Uint8Array(Math.max(length, OPTIONS_AT + octets.length));
  bytes.set(message('discover').subarray(0, OPTIONS_AT));
  bytes.set(octets, OPTIONS_AT);
  return bytes;
}

function changed(bytes: Uint8Array, at: number, octet: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = octet;
  return copy;
}

const MALFORMED: readonly BadPacket[] = [
  { name: 'no octets at all', bytes: new Uint8Array(0), outcome: 'dropped message-too-short' },
  { name: 'one octet', bytes: Uint8Array.of(1), outcome: 'dropped message-too-short' },
  { name: 'cut before the cookie', bytes: message('discover').subarray(0, 236), outcome: 'dropped message-too-short' },
  { name: 'all zero', bytes: new Uint8Array(300), outcome: 'dropped magic-cookie-missing' },
  { name: 'all 0xff', bytes: new Uint8Array(300).fill(0xff), outcome: 'dropped magic-cookie-missing' },
  { name: 'a wrong cookie', bytes: changed(message('discover'), 239, 0x64), outcome: 'dropped magic-cookie-missing' },
  { name: 'hlen 17', bytes: changed(message('discover'), 2, 17), outcome: 'dropped hardware-length-invalid' },
  { name: 'hlen 255', bytes: changed(message('discover'), 2, 255), outcome: 'dropped hardware-length-invalid' },
  { name: 'hlen 0', bytes: changed(message('discover'), 2, 0), outcome: 'dropped hardware-unsupported' },
  { name: 'hlen 16', bytes: changed(message('discover'), 2, 16), outcome: 'dropped hardware-unsupported' },
  { name: 'hardware type 0', bytes: changed(message('discover'), 1, 0), outcome: 'dropped hardware-unsupported' },
  {
    name: 'a group address as chaddr',
    bytes: message('discover', [], { mac: Array(6).fill(0xff) }),
    outcome: 'dropped hardware-unsupported',
  },
  { name: 'option length past the end', bytes: withRawOptions([53, 1, 1, 12, 255]), outcome: 'dropped option-truncated' },
  { name: 'an option without length', bytes: withRawOptions([53, 1, 1, 12], 244), outcome: 'dropped option-truncated' },
  { name: 'option 53 missing', bytes: withRawOptions([255]), outcome: 'dropped message-type-missing' },
  { name: 'option 53 twice', bytes: withRawOptions([53, 1, 1, 53, 1, 3, 255]), outcome: 'dropped message-type-invalid' },
  { name: 'option 53 empty', bytes: withRawOptions([53, 0, 255]), outcome: 'dropped message-type-invalid' },
  { name: 'option 53 of 99', bytes: withRawOptions([53, 1, 99, 255]), outcome: 'dropped message-type-invalid' },
  { name: 'option 53 of 0', bytes: withRawOptions([53, 1, 0, 255]), outcome: 'dropped message-type-invalid' },
  { name: 'option 50 of three octets', bytes: message('request', [[50, [1, 2, 3]]]), outcome: 'dropped option-length-invalid' },
  {
    name: 'option 54 of five octets',
    bytes: message('request', [[54, [1, 2, 3, 4, 5]]]),
    outcome: 'dropped option-length-invalid',
  },
  { name: 'option 82 cut short', bytes: message('discover', [[82, [1, 20, 1]]]), outcome: 'dropped relay-information-malformed' },
  {
    name: 'option 82 with a link of two octets',
    bytes: message('discover', [[82, [5, 2, 1, 1]]]),
    outcome: 'dropped relay-information-malformed',
  },
  { name: 'overload of 4', bytes: withRawOptions([52, 1, 4, 53, 1, 1, 255]), outcome: 'dropped option-overload-invalid' },
  { name: 'overload inside an overloaded field', bytes: nestedOverload(), outcome: 'dropped option-overload-invalid' },
  { name: 'an overloaded field full of rubbish', bytes: overloadedRubbish(), outcome: 'dropped option-truncated' },
  { name: 'a reply', bytes: message('discover', [], { op: 2 }), outcome: 'dropped not-a-request' },
  { name: 'an OFFER sent to a server', bytes: packet([[53, [2]], SERVER]), outcome: 'dropped message-type-of-a-server' },
  { name: 'an ACK sent to a server', bytes: packet([[53, [5]], SERVER]), outcome: 'dropped message-type-of-a-server' },
  {
    name: 'a relay of nowhere',
    bytes: message('discover', [], { giaddr: address(1, 99) }),
    outcome: 'dropped no-pool-for-relay',
  },
  {
    name: 'a relay of nowhere that names this network',
    bytes: message('discover', [[82, [5, 4, 192, 168, 48, 0]]], { giaddr: address(1, 99) }),
    outcome: 'dropped relay-not-allowed',
  },
  {
    name: 'a relay at the address of the server',
    bytes: message('discover', [], { giaddr: address(2) }),
    outcome: 'dropped relay-not-allowed',
  },
];

const UNWANTED: readonly BadPacket[] = [
  { name: 'an unknown client', bytes: message('discover', [], { mac: STRANGER }), outcome: 'discover ignored unknown-client' },
  {
    name: 'an unknown client that claims an address',
    bytes: message('request', [wanting(10)], { mac: STRANGER }),
    outcome: 'request ignored unknown-client',
  },
  {
    name: 'an unknown client that selects us',
    bytes: message('request', [SERVER, wanting(10)], { mac: STRANGER }),
    outcome: 'request nak reservation-gone',
  },
  {
    name: 'an address outside the pool',
    bytes: message('request', [wanting(10, 77)]),
    outcome: 'request nak address-not-its-own',
  },
  { name: "somebody else's address", bytes: message('request', [wanting(11)]), outcome: 'request nak address-not-its-own' },
  {
    name: 'another server selected',
    bytes: message('request', [[54, [192, 168, 48, 3]], wanting(10)]),
    outcome: 'request ignored other-server-selected',
  },
  { name: 'a REQUEST for nothing', bytes: message('request'), outcome: 'request ignored address-missing' },
  {
    name: "a DECLINE of somebody else's address",
    bytes: message('decline', [SERVER, wanting(11)]),
    outcome: 'decline ignored address-not-its-own',
  },
  {
    name: 'a DECLINE for nobody',
    bytes: message('decline', [wanting(10)]),
    outcome: 'decline ignored server-identifier-missing',
  },
  {
    name: "a RELEASE of somebody else's address",
    bytes: message('release', [SERVER], { ciaddr: address(11) }),
    outcome: 'release ignored address-not-its-own',
  },
  {
    name: 'a RELEASE by a stranger',
    bytes: message('release', [SERVER], { ciaddr: address(10), mac: STRANGER }),
    outcome: 'release ignored unknown-client',
  },
  {
    name: 'an INFORM from elsewhere',
    bytes: message('inform', [], { ciaddr: 0x0808_0808 }),
    outcome: 'inform ignored client-not-on-this-network',
  },
  { name: 'an INFORM without address', bytes: message('inform'), outcome: 'inform ignored address-missing' },
];

/** Odd, but answered as if it were not. */
const ODD: readonly BadPacket[] = [
  {
    name: 'every octet of padding there is',
    bytes: withRawOptions([...Array(200).fill(0), 53, 1, 1, 255], 600),
    outcome: 'discover offer ',
  },
  { name: 'as large as a frame holds', bytes: withRawOptions([53, 1, 1, 255], 1472), outcome: 'discover offer ' },
  { name: 'no end option', bytes: withRawOptions([53, 1, 1, ...Array(57).fill(0)]), outcome: 'discover offer ' },
  {
    name: 'a host name of terminal commands',
    bytes: message('discover', [[12, [...'\x1b[2J\n"}\u0000'].map((c) => c.charCodeAt(0))]]),
    outcome: 'discover offer ',
  },
  { name: 'a vendor class of 255 octets', bytes: message('discover', [[60, Array(255).fill(0x0a)]]), outcome: 'discover offer ' },
  {
    name: 'a request list of 255 options',
    bytes: message('discover', [[55, Array.from({ length: 255 }, (_, code) => code)]]),
    outcome: 'discover offer ',
  },
  { name: 'a maximum message size of 0', bytes: message('discover', [[57, [0, 0]]]), outcome: 'discover offer ' },
  { name: 'a maximum message size of one octet', bytes: message('discover', [[57, [7]]]), outcome: 'discover offer ' },
];

function nestedOverload(): Uint8Array {
  const bytes = withRawOptions([52, 1, 1, 53, 1, 1, 255]);
  bytes.set([52, 1, 2, 255], 108);
  return bytes;
}

function overloadedRubbish(): Uint8Array {
  const bytes = withRawOptions([52, 1, 3, 53, 1, 1, 255]);
  bytes.fill(0xfe, 44, 236);
  return bytes;
}

export const BAD_PACKETS: readonly BadPacket[] = [...MALFORMED, ...UNWANTED, ...ODD];
