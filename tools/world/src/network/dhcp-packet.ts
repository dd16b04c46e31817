/**
 * The DHCP codec of guests and the auditor: a second implementation of RFC 2131 §2 and RFC 2132, so that mistakes of the agents' own codec are seen.
 * It knows only what a guest needs.
 */

export type MessageType = 'discover' | 'offer' | 'request' | 'decline' | 'ack' | 'nak' | 'release' | 'inform';

/** Source: RFC 2132 §9.6. The index is the number less one. */
const TYPES: readonly MessageType[] = ['discover', 'offer', 'request', 'decline', 'ack', 'nak', 'release', 'inform'];
const COOKIE = 0x63825363;
const OPTIONS_AT = 240;

export const Option = {
  router: 3,
  requestedAddress: 50,
  leaseSeconds: 51,
  messageType: 53,
  serverIdentifier: 54,
  clientIdentifier: 61,
  relayAgentInformation: 82,
} as const;

export interface DhcpPacket {
  readonly isReply: boolean;
  readonly type: MessageType;
  readonly xid: number;
  readonly secs: number;
  /** Addresses as text; `0.0.0.0` for none. */
  readonly ciaddr: string;
  readonly yiaddr: string;
  readonly giaddr: string;
  readonly macAddress: string;
  /** By code. */
  readonly options: ReadonlyMap<number, Uint8Array>;
}

/** Undefined if these octets are not a DHCP message with a type. */
export function readPacket(octets: Uint8Array): DhcpPacket | undefined {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  if (octets.length < OPTIONS_AT || view.getUint32(236) !== COOKIE) return undefined;
  const options = new Map<number, Uint8Array>();
  for (let at = OPTIONS_AT; at + 1 < octets.length && octets[at] !== 255; ) {
    const code = octets[at] as number;
    const length = octets[at + 1] as number;
    if (code !== 0) options.set(code, octets.subarray(at + 2, at + 2 + length));
    at += code === 0 ? 1 : 2 + length;
  }
  const type = TYPES[(options.get(Option.messageType)?.[0] ?? 0) - 1];
  if (type === undefined) return undefined;
  return {
    isReply: octets[0] === 2,
    type,
    xid: view.getUint32(4),
    secs: view.getUint16(8),
    ciaddr: addressAt(octets, 12),
    yiaddr: addressAt(octets, 16),
    giaddr: addressAt(octets, 24),
    macAddress: [...octets.subarray(28, 34)].map((octet) => octet.toString(16).padStart(2, '0')).join(':'),
    options,
  };
}

export interface ClientMessage {
  readonly type: MessageType;
  readonly xid: number;
  readonly secs: number;
  readonly macAddress: string;
  readonly ciaddr?: string;
  /** Addresses as text. */
  readonly requestedAddress?: string | undefined;
  readonly serverIdentifier?: string | undefined;
  readonly clientIdentifier?: Uint8Array | undefined;
}

export function writePacket(message: ClientMessage): Uint8Array {
  const { type, xid, secs, macAddress, ciaddr, requestedAddress, serverIdentifier, clientIdentifier } = message;
  const options = [
    [Option.messageType, [TYPES.indexOf(type) + 1]],
    ...(requestedAddress === undefined ? [] : [[Option.requestedAddress, octetsOf(requestedAddress)] as const]),
    ...(serverIdentifier === undefined ? [] : [[Option.serverIdentifier, octetsOf(serverIdentifier)] as const]),
    ...(clientIdentifier === undefined ? [] : [[Option.clientIdentifier, [...clientIdentifier]] as const]),
    // The options that every client requests: subnet mask, router, name servers.
    [55, [1, 3, 6]],
  ] as readonly (readonly [number, readonly number[]])[];
  const text = options.flatMap(([code, octets]) => [code, octets.length, ...octets]);
  const packet = new Uint8Array(Math.max(300, OPTIONS_AT + text.length + 1));
  const view = new DataView(packet.buffer);
  packet.set([1, 1, 6, 0]);
  view.setUint32(4, xid);
  view.setUint16(8, Math.min(secs, 0xffff));
  if (ciaddr !== undefined) packet.set(octetsOf(ciaddr), 12);
  packet.set(
    macAddress.split(':').map((octet) => Number.parseInt(octet, 16)),
    28,
  );
  view.setUint32(236, COOKIE);
  packet.set([...text, 255], OPTIONS_AT);
  return packet;
}

/** What the relay adds: a circuit. */
const RELAY_INFORMATION = [1, 2, 0, 7];

/** True if a reply has what the relay added. Source: RFC 3046 §2.2. */
export function hasRelayInformation({ options }: DhcpPacket): boolean {
  return String(options.get(Option.relayAgentInformation)) === String(RELAY_INFORMATION);
}

/** The packet of a client as a relay forwards it. Source: RFC 1542 §4.1.1, RFC 3046 §2.1. */
export function relayed(octets: Uint8Array, relay: string): Uint8Array {
  let end = OPTIONS_AT;
  while (octets[end] !== 255) end += 2 + (octets[end + 1] ?? 0);
  const circuit = [Option.relayAgentInformation, RELAY_INFORMATION.length, ...RELAY_INFORMATION];
  const packet = new Uint8Array(Math.max(octets.length, end + circuit.length + 1));
  packet.set(octets);
  packet[3] = (octets[3] ?? 0) + 1;
  packet.set(octetsOf(relay), 24);
  packet.set([...circuit, 255], end);
  return packet;
}

export function readAddress(octets: Uint8Array | undefined): string | undefined {
  return octets?.length === 4 ? addressAt(octets, 0) : undefined;
}

export function readSeconds(octets: Uint8Array | undefined): number | undefined {
  return octets?.length === 4 ? new DataView(octets.buffer, octets.byteOffset).getUint32(0) : undefined;
}

function addressAt(octets: Uint8Array, at: number): string {
  return [...octets.subarray(at, at + 4)].join('.');
}

function octetsOf(address: string): readonly number[] {
  return address.split('.').map(Number);
}
