/** A DHCP client that only asks and reads the answers, without changing its interface. */
import {
  BROADCAST_ADDRESS,
  CLIENT_PORT,
  decodeMessage,
  encodeOption,
  type Ipv4Address,
  type MacAddress,
  OptionCode,
  parseIpv4Address,
  readMacAddress,
  SERVER_PORT,
  UNSPECIFIED_ADDRESS,
} from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import { encodeClientPacket } from './client-packet.js';
import { type ServerAnswer, toServerAnswer } from './server-answer.js';

const POLL_INTERVAL_MS = 2;
const RETRANSMIT_INTERVAL_MS = 1_000;
const VENDOR_CLASS = Uint8Array.from('vmdhcp-probe', (character) => character.charCodeAt(0));
const ASKED_FOR = [1, 3, 6, 12, 15, 26, 28, 33, 42, 51, 54, 58, 59, 66, 67, 119, 121];

/** IPv4 addresses and UDP ports of a datagram. */
interface Endpoints {
  readonly sourceAddress: Ipv4Address;
  readonly sourcePort: number;
  readonly destinationAddress: Ipv4Address;
  readonly destinationPort: number;
}

/** Sends and receives UDP datagrams on an interface that needs no address. */
export interface ProbeSocket {
  /** The interface's own MAC address, six octets. */
  readonly hardwareAddress: Uint8Array;
  /** Sends a datagram to every host on the link. */
  broadcast(payload: Uint8Array, endpoints: Endpoints): void;
  /** The datagrams since the last call; does not wait. */
  receive(): readonly (Pick<Endpoints, 'sourceAddress' | 'destinationPort'> & {
    readonly payload: Uint8Array;
    readonly senderHardwareAddress: Uint8Array;
  })[];
  close(): void;
}

/** The socket, the client and the time of one probe for DHCP servers. */
export interface DhcpProbeSettings {
  readonly socket: ProbeSocket;
  readonly clock: Clock;
  /** The transaction of all messages of this client: 1 to 2^32 - 1, random. */
  readonly transactionId: number;
  /** Default: the interface's own. */
  readonly macAddress?: MacAddress;
  /** How long to wait for answers. */
  readonly timeoutMs: number;
}

interface Question {
  /** True to return after the first answer. */
  readonly onlyFirst: boolean;
  /** Returns true for an answer to this question. */
  readonly answers: (answer: ServerAnswer) => boolean;
}

/** One probing client on one interface. */
export class DhcpProbe {
  readonly macAddress: MacAddress;
  readonly #settings: DhcpProbeSettings;

  constructor(settings: DhcpProbeSettings) {
    this.#settings = settings;
    this.macAddress = settings.macAddress ?? readMacAddress(settings.socket.hardwareAddress);
  }

  close(): void {
    this.#settings.socket.close();
  }

  /**
   * Asks for an address and returns the offers of servers, one each, in order of arrival.
   * @param onlyFirst - true: does not wait for others after the first.
   */
  async discover(onlyFirst = false): Promise<ServerAnswer[]> {
    // An ACK is rapid commit, RFC 4039.
    return this.#ask(this.#message('discover', []), { onlyFirst, answers: ({ type }) => type !== 'nak' });
  }

  /** Requests an offered address. Returns the server's ACK or NAK, or undefined if it does not answer. */
  async request(offer: ServerAnswer): Promise<ServerAnswer | undefined> {
    const options = [addressOption('serverIdentifier', offer.server), addressOption('requestedAddress', offer.address)];
    // Offers of slower servers may still be on their way.
    const answers = ({ type, server }: ServerAnswer) => type !== 'offer' && server === offer.server;
    const [answer] = await this.#ask(this.#message('request', options), { onlyFirst: true, answers });
    return answer;
  }

  /** Claims an address like a client after a restart (INIT-REBOOT, RFC 2131 §4.3.2): a server that knows another address for it answers NAK. */
  async claim(address: string): Promise<ServerAnswer | undefined> {
    const message = this.#message('request', [addressOption('requestedAddress', address)]);
    const [answer] = await this.#ask(message, { onlyFirst: true, answers: ({ type }) => type !== 'offer' });
    return answer;
  }

  /** Sends the message every second until the first answer. */
  async #ask(message: Uint8Array, { onlyFirst, answers: isAnswer }: Question): Promise<ServerAnswer[]> {
    const { socket, clock, timeoutMs } = this.#settings;
    const answers = new Map<string, ServerAnswer>();
    const startedAtMs = clock.nowMs();
    let sentAtMs = Number.NEGATIVE_INFINITY;
    // Late answers to an earlier question.
    socket.receive();
    while (clock.nowMs() - startedAtMs < timeoutMs && !(onlyFirst && answers.size > 0)) {
      if (answers.size === 0 && clock.nowMs() - sentAtMs >= RETRANSMIT_INTERVAL_MS) {
        this.#broadcast(message);
        sentAtMs = clock.nowMs();
      }
      await this.#delay(POLL_INTERVAL_MS);
      for (const answer of this.#receive(clock.nowMs() - startedAtMs)) {
        const key = `${answer.server} ${answer.serverMacAddress}`;
        if (isAnswer(answer) && !answers.has(key)) answers.set(key, answer);
      }
    }
    return [...answers.values()];
  }

  #broadcast(message: Uint8Array): void {
    this.#settings.socket.broadcast(message, {
      sourceAddress: UNSPECIFIED_ADDRESS,
      sourcePort: CLIENT_PORT,
      destinationAddress: BROADCAST_ADDRESS,
      destinationPort: SERVER_PORT,
    });
  }

  #delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#settings.clock.after(ms, resolve));
  }

  #receive(tookMs: number): ServerAnswer[] {
    const { socket, transactionId } = this.#settings;
    return socket.receive().flatMap(({ destinationPort, sourceAddress, payload, senderHardwareAddress }) => {
      const decoded = destinationPort === CLIENT_PORT ? decodeMessage(payload) : undefined;
      if (!decoded?.ok || decoded.message.op !== 2 || decoded.message.xid !== transactionId) return [];
      const answer = toServerAnswer(decoded.message, { sourceAddress, senderHardwareAddress, tookMs });
      return answer === undefined ? [] : [answer];
    });
  }

  #message(type: 'discover' | 'request', options: readonly (readonly [number, Uint8Array])[]): Uint8Array {
    return encodeClientPacket({
      type,
      macAddress: this.macAddress,
      xid: this.#settings.transactionId,
      wantsBroadcast: true,
      options: [
        ...options,
        [OptionCode.parameterRequestList, Uint8Array.from(ASKED_FOR)],
        [OptionCode.vendorClass, VENDOR_CLASS],
      ],
    });
  }
}

function addressOption(name: 'serverIdentifier' | 'requestedAddress', address: string): readonly [number, Uint8Array] {
  return encodeOption(name, parseIpv4Address(address) ?? UNSPECIFIED_ADDRESS);
}
