import { BROADCAST_MAC } from '../ethernet/mac-address.js';
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { attachFilter } from '../libc/packet-filter.js';
import { SOCKADDR_LL_LENGTH, writeSockaddrLl } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { openPacketSocket } from '../packet/open-packet-socket.js';

const BURST = 64;
/** The most frames that one call of `receive` reads, so that a flood on one interface leaves time for the others. */
const MOST_BURSTS = 16;
const LARGEST_PAYLOAD = 2048;
/** Where the hardware address of the sender stands in a `struct sockaddr_ll`. */
const SENDER_AT = 12;
const MAC_LENGTH = 6;
const PACKET_ADD_MEMBERSHIP = 1;
const PACKET_MR_MULTICAST = 0;
const PACKET_MR_PROMISC = 1;

/** Which frames a socket receives, on which interface. */
export interface FrameSocketSettings {
  readonly interfaceName: string;
  /** 0x0600 to 0xffff. The kernel has removed a VLAN tag before it compares. */
  readonly etherType: number;
  /** True if the interface should also receive frames for other hosts, as long as the socket is open. */
  readonly promiscuous?: boolean;
  /** MAC addresses of groups whose frames the interface should also receive, as long as the socket is open; six octets each. */
  readonly groups?: readonly Uint8Array[];
  /** A program (`encodeFilter`) that accepts frames. Default: all of the type. */
  readonly filter?: Buffer;
}

/** Handles one frame: its payload, and the address of its sender, six octets. Both are valid only during the call. */
export type FrameHandler = (payload: Uint8Array, senderHardwareAddress: Uint8Array) => void;

/** Memory that all sockets of the process share: a burst is handled before the next one is read. */
let shared: MessageSlab | undefined;
let sending: MessageSlab | undefined;

/** Sends and receives Ethernet frames of one type on an interface, without IP. Needs CAP_NET_RAW. */
export class FrameSocket {
  /** The interface as it was when the socket was opened; another one of the same name has another index. */
  readonly interfaceIndex: number;
  /** The interface's own address, six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly #fd: number;
  readonly #etherType: number;
  readonly #received: MessageSlab;

  /** @throws SocketError */
  constructor({ interfaceName, etherType, promiscuous = false, groups = [], filter }: FrameSocketSettings) {
    const { fd, interfaceIndex, hardwareAddress } = openPacketSocket(interfaceName, etherType);
    this.#fd = fd;
    this.#etherType = etherType;
    this.interfaceIndex = interfaceIndex;
    this.hardwareAddress = hardwareAddress;
    shared ??= new MessageSlab({ count: BURST, size: LARGEST_PAYLOAD });
    this.#received = shared;
    if (filter !== undefined) attachFilter(fd, filter);
    if (promiscuous) this.#receiveAlso(interfaceName, PACKET_MR_PROMISC);
    for (const group of groups) this.#receiveAlso(interfaceName, PACKET_MR_MULTICAST, group);
  }

  /** Sends a frame of at most 1500 octets after its header. @param destination - six octets; default: every host. @throws SocketError */
  send(payload: Uint8Array, destination: Uint8Array = BROADCAST_MAC): void {
    sending ??= new MessageSlab({ count: 1, size: LARGEST_PAYLOAD });
    const sent = sending;
    sent.buffers[0]?.set(payload);
    writeSockaddrLl(sent.names[0] as Buffer, { interfaceIndex: this.interfaceIndex, etherType: this.#etherType }, destination);
    sent.setOutgoing(0, { start: 0, end: payload.length }, SOCKADDR_LL_LENGTH);
    if (libc.sendmmsg(this.#fd, sent.headers, 1, libc.MSG_DONTWAIT) < 1) throw new SocketError('send a frame');
  }

  /** Handles the frames since the last call; does not wait. Returns how many. @param bursts - the most frames, in units of 64; default: 1024. */
  receive(handler: FrameHandler, bursts: number = MOST_BURSTS): number {
    let frames = 0;
    for (let burst = 0; burst < bursts; burst++) {
      const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
      for (let index = 0; index < count; index++) {
        const name = this.#received.names[index] as Buffer;
        handler(this.#received.received(index), name.subarray(SENDER_AT, SENDER_AT + MAC_LENGTH));
      }
      frames += Math.max(count, 0);
      if (count < BURST) break;
    }
    return frames;
  }

  close(): void {
    libc.close(this.#fd);
  }

  /** The kernel undoes this when the socket is closed. */
  #receiveAlso(interfaceName: string, type: number, group: Uint8Array = new Uint8Array(0)): void {
    // `struct packet_mreq`: interface, type, length of an address, address.
    const membership = Buffer.alloc(16);
    membership.writeInt32LE(this.interfaceIndex, 0);
    membership.writeUInt16LE(type, 4);
    membership.writeUInt16LE(group.length, 6);
    membership.set(group, 8);
    if (libc.setsockopt(this.#fd, libc.SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership, membership.length) === 0) return;
    const error = new SocketError(`receive frames for groups or other hosts on ${interfaceName}`);
    this.close();
    throw error;
  }
}
