/** A DHCP client that asks and looks, and changes nothing on its interface. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeClientPacket } from '@vmdhcp/dhcp-agent';
import {
  BROADCAST_ADDRESS,
  CLIENT_PORT,
  type DhcpMessage,
  type DhcpOptions,
  decodeMessage,
  decodeOption,
  encodeOption,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  type MacAddress,
  messageTypeOf,
  OPTIONS,
  OptionCode,
  type OptionName,
  type OptionValue,
  parseIpv4Address,
  readMacAddress,
  SERVER_PORT,
  UNSPECIFIED_ADDRESS,
} from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';
import { printable } from '../log/printable.js';

export { type ClientPacket, encodeClientPacket } from '@vmdhcp/dhcp-agent';

const POLL_INTERVAL_MS = 2;
const RETRANSMIT_INTERVAL_MS = 1_000;
const ASKED_FOR = [1, 3, 6, 12, 15, 26, 28, 33, 42, 51, 54, 58, 59, 66, 67, 119, 121];

/** What one server answered. */
export interface ServerAnswer {
  readonly type: 'offer' | 'ack' | 'nak';
  /** Server identifier (option 54), or the sender's address if it has none. */
  readonly server: string;
  /** Hardware address of the frame: the server itself, or its router or relay. */
  readonly serverMacAddress: MacAddress;
  readonly address: string;
  readonly leaseTimeSeconds?: number;
  readonly subnetMask?: string;
  readonly routers: readonly string[];
  readonly dnsServers: readonly string[];
  readonly domainName?: string;
  readonly mtu?: number;
  /** Option 42. */
  readonly ntpServers: readonly string[];
  /** Option 119, RFC 3397. */
  readonly domainSearch: readonly string[];
  /** Option 121, RFC 3442: the default route among them. */
  readonly classlessRoutes: readonly OfferedRoute[];
  /** Option 33: routes to single hosts, or to networks of the old classes. */
  readonly staticRoutes: readonly OfferedRoute[];
  /** From the question to this answer. */
  readonly tookMs: number;
}

export interface OfferedRoute {
  /** `10.0.0.0/8`; in option 33 an address. */
  readonly destination: string;
  /** 0.0.0.0: the destination is on the link. */
  readonly gateway: string;
}

export interface ProbeSettings {
  readonly interfaceName: string;
  /** Default: the interface's own. */
  readonly macAddress?: MacAddress;
  readonly timeoutMs: number;
}

interface Question {
  /** True: does not wait for others after the first. */
  readonly onlyFirst: boolean;
  /** True for what answers this question. */
  readonly answers: (answer: ServerAnswer) => boolean;
}

/** One probing client on one interface. */
export class DhcpProbe {
  readonly macAddress: MacAddress;
  readonly #socket: PacketSocket;
  readonly #timeoutMs: number;
  readonly #xid = randomInt(1, 2 ** 32);

  /** @throws SocketError */
  constructor({ interfaceName, macAddress, timeoutMs }: ProbeSettings) {
    this.#socket = new PacketSocket(interfaceName);
    this.macAddress = macAddress ?? readMacAddress(this.#socket.hardwareAddress);
    this.#timeoutMs = timeoutMs;
  }

  close(): void {
    this.#socket.close();
  }

  /**
   * Asks for an address and returns what servers offer, one answer each, in the order they came.
   * @param onlyFirst - true: does not wait for others after the first.
   */
  async discover(onlyFirst = false): Promise<ServerAnswer[]> {
    // An ACK is rapid commit, RFC 4039.
    return this.#ask(this.#message('discover', []), { onlyFirst, answers: ({ type }) => type !== 'nak' });
  }

  /** Takes a server's offer: the server's ACK or NAK, or undefined if it does not answer. */
  async request(offer: ServerAnswer): Promise<ServerAnswer | undefined> {
    const options = [addressOption('serverIdentifier', offer.server), addressOption('requestedAddress', offer.address)];
    // Offers of slower servers may still be on their way.
    const answers = ({ type, server }: ServerAnswer) => type !== 'offer' && server === offer.server;
    const [answer] = await this.#ask(this.#message('request', options), { onlyFirst: true, answers });
    return answer;
  }

  /** Claims an address as after a restart: who knows better says NAK. */
  async claim(address: string): Promise<ServerAnswer | undefined> {
    const message = this.#message('request', [addressOption('requestedAddress', address)]);
    const [answer] = await this.#ask(message, { onlyFirst: true, answers: ({ type }) => type !== 'offer' });
    return answer;
  }

  async #ask(message: Uint8Array, { onlyFirst, answers: isAnswer }: Question): Promise<ServerAnswer[]> {
    const answers = new Map<string, ServerAnswer>();
    const startedAt = performance.now();
    let sentAt = Number.NEGATIVE_INFINITY;
    this.#socket.receive();
    while (performance.now() - startedAt < this.#timeoutMs && !(onlyFirst && answers.size > 0)) {
      if (answers.size === 0 && performance.now() - sentAt >= RETRANSMIT_INTERVAL_MS) {
        this.#socket.broadcast(message, {
          sourceAddress: UNSPECIFIED_ADDRESS,
          sourcePort: CLIENT_PORT,
          destinationAddress: BROADCAST_ADDRESS,
          destinationPort: SERVER_PORT,
        });
        sentAt = performance.now();
      }
      await delay(POLL_INTERVAL_MS);
      for (const answer of this.#receive(performance.now() - startedAt)) {
        const key = `${answer.server} ${answer.serverMacAddress}`;
        if (isAnswer(answer) && !answers.has(key)) answers.set(key, answer);
      }
    }
    return [...answers.values()];
  }

  #receive(tookMs: number): ServerAnswer[] {
    return this.#socket.receive().flatMap(({ destinationPort, sourceAddress, payload, senderHardwareAddress }) => {
      const decoded = destinationPort === CLIENT_PORT ? decodeMessage(payload) : undefined;
      if (!decoded?.ok || decoded.message.op !== 2 || decoded.message.xid !== this.#xid) return [];
      const answer = toAnswer(decoded.message, { sourceAddress, senderHardwareAddress, tookMs });
      return answer === undefined ? [] : [answer];
    });
  }

  #message(type: 'discover' | 'request', options: readonly (readonly [number, Uint8Array])[]): Uint8Array {
    return encodeClientPacket({
      type,
      macAddress: this.macAddress,
      xid: this.#xid,
      wantsBroadcast: true,
      options: [
        ...options,
        [OptionCode.parameterRequestList, Uint8Array.from(ASKED_FOR)],
        [OptionCode.vendorClass, new TextEncoder().encode('vmdhcp-probe')],
      ],
    });
  }
}

interface Received {
  readonly sourceAddress: Ipv4Address;
  readonly senderHardwareAddress: Uint8Array;
  readonly tookMs: number;
}

function toAnswer(
  { yiaddr, options }: DhcpMessage,
  { sourceAddress, senderHardwareAddress, tookMs }: Received,
): ServerAnswer | undefined {
  const type = messageTypeOf(options.uint8(OptionCode.messageType) ?? 0);
  if (type !== 'offer' && type !== 'ack' && type !== 'nak') return undefined;
  const leaseTimeSeconds = options.uint32(OptionCode.leaseTime);
  const mask = options.uint32(OptionCode.subnetMask);
  const mtu = options.uint16(OptionCode.interfaceMtu);
  const domainName = options.get(OptionCode.domainName);
  return {
    type,
    server: formatIpv4Address(options.uint32(OptionCode.serverIdentifier) ?? sourceAddress),
    serverMacAddress: readMacAddress(senderHardwareAddress),
    address: formatIpv4Address(yiaddr),
    ...(leaseTimeSeconds !== undefined && { leaseTimeSeconds }),
    ...(mask !== undefined && { subnetMask: formatIpv4Address(mask) }),
    routers: addressList(options, 'routers'),
    dnsServers: addressList(options, 'domainNameServers'),
    ...(domainName !== undefined && { domainName: printable(domainName) }),
    ...(mtu !== undefined && { mtu }),
    ntpServers: addressList(options, 'ntpServers'),
    ...searchAndRoutes(options),
    tookMs: Math.round(tookMs * 10) / 10,
  };
}

function searchAndRoutes(options: DhcpOptions): Pick<ServerAnswer, 'domainSearch' | 'classlessRoutes' | 'staticRoutes'> {
  return {
    domainSearch: (optionValue(options, 'domainSearch') ?? []).map((name) => printable(new TextEncoder().encode(name))),
    classlessRoutes: (optionValue(options, 'classlessStaticRoutes') ?? []).map(({ destination, gateway }) => ({
      destination: formatIpv4Cidr(destination),
      gateway: formatIpv4Address(gateway),
    })),
    staticRoutes: (optionValue(options, 'staticRoutes') ?? []).map(([destination, gateway]) => ({
      destination: formatIpv4Address(destination),
      gateway: formatIpv4Address(gateway),
    })),
  };
}

function addressList(options: DhcpOptions, name: 'routers' | 'domainNameServers' | 'ntpServers'): string[] {
  return (optionValue(options, name) ?? []).map(formatIpv4Address);
}

/** Undefined where the option is not there, or cannot be read. */
function optionValue<Name extends OptionName>(options: DhcpOptions, name: Name): OptionValue<Name> | undefined {
  const octets = options.get(OPTIONS[name].code);
  return octets === undefined ? undefined : decodeOption(name, octets);
}

function addressOption(name: 'serverIdentifier' | 'requestedAddress', address: string): readonly [number, Uint8Array] {
  return encodeOption(name, parseIpv4Address(address) ?? UNSPECIFIED_ADDRESS);
}
