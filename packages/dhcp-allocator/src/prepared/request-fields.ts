import { readLinkSelection } from '../server/relay-agent-information.js';
import { readUint16, readUint32 } from '../wire/big-endian.js';
import { HTYPE_ETHERNET, MAGIC_COOKIE, MessageTypeCode, Offset, OP_REQUEST, OptionCode } from '../wire/layout.js';

const MAC_ADDRESS_LENGTH = 6;

/**
 * The content of a DISCOVER or REQUEST, as numbers in one object that is reused for each packet. An address of 0 is absent, and so is an option that
 * begins at 0.
 */
export class RequestFields {
  /** 1 DISCOVER, 3 REQUEST. */
  type = 0;
  requestedAddress = 0;
  serverIdentifier = 0;
  /** An address in the subnet of the client, from option 82. */
  linkSelection = 0;
  hasRapidCommit = false;
  hasMaximumMessageSize = false;
  /** Option 57. */
  maximumMessageSize = 0;
  /** Where the values of options begin and how long they are. */
  requestListStart = 0;
  requestListLength = 0;
  clientIdentifierStart = 0;
  clientIdentifierLength = 0;
  relayInformationStart = 0;
  relayInformationLength = 0;
  /** -1 if the client names none. */
  architecture = -1;

  /**
   * Reads a packet. False if it is not from an ordinary client, or is malformed; the fields are undefined then. Everything rare is left to
   * `answerPacket`: overload, options in pieces or of unusual length, other hardware.
   */
  read(packet: Uint8Array): boolean {
    if (packet.length < Offset.options || !isFromEthernetClient(packet)) return false;
    this.#clear();
    return this.#readOptions(packet) && (this.type === MessageTypeCode.discover || this.type === MessageTypeCode.request);
  }

  #clear(): void {
    this.type = 0;
    this.requestedAddress = 0;
    this.serverIdentifier = 0;
    this.linkSelection = 0;
    this.hasRapidCommit = false;
    this.hasMaximumMessageSize = false;
    this.requestListStart = 0;
    this.requestListLength = 0;
    this.clientIdentifierStart = 0;
    this.clientIdentifierLength = 0;
    this.relayInformationStart = 0;
    this.relayInformationLength = 0;
    this.architecture = -1;
  }

  #readOptions(packet: Uint8Array): boolean {
    const end = packet.length;
    /** The relevant codes that were read, one bit each: the pieces of a repeated one must be joined. */
    let seen = 0;
    let at: number = Offset.options;
    while (at < end) {
      const code = packet[at] as number;
      if (code === OptionCode.pad) {
        at++;
        continue;
      }
      if (code === OptionCode.end) break;
      const start = at + 2;
      if (start > end) return false;
      const length = packet[at + 1] as number;
      at = start + length;
      if (at > end) return false;
      const bit = this.#readOption(packet, code, start, length);
      if (bit < 0 || (seen & bit) !== 0) return false;
      seen |= bit;
    }
    return true;
  }

  /** The bit of the option; 0 if it is irrelevant; -1 if it is left to `answerPacket`. */
  // oxlint-disable-next-line complexity, max-params -- one case for each option, on the packet path: an object would be garbage for every option
  #readOption(packet: Uint8Array, code: number, start: number, length: number): number {
    switch (code) {
      case OptionCode.messageType:
        this.type = packet[start] as number;
        return length === 1 ? 1 : -1;
      case OptionCode.requestedAddress:
        this.requestedAddress = readUint32(packet, start);
        return length === 4 ? 2 : -1;
      case OptionCode.serverIdentifier:
        this.serverIdentifier = readUint32(packet, start);
        return length === 4 ? 4 : -1;
      case OptionCode.parameterRequestList:
        this.requestListStart = start;
        this.requestListLength = length;
        return 8;
      case OptionCode.maximumMessageSize:
        this.hasMaximumMessageSize = true;
        this.maximumMessageSize = readUint16(packet, start);
        return length === 2 ? 16 : -1;
      case OptionCode.clientIdentifier:
        this.clientIdentifierStart = start;
        this.clientIdentifierLength = length;
        return 32;
      case OptionCode.relayAgentInformation:
        return this.#readRelayInformation(packet, start, length) ? 64 : -1;
      case OptionCode.rapidCommit:
        this.hasRapidCommit = true;
        return 128;
      case OptionCode.clientArchitecture:
        this.architecture = readUint16(packet, start);
        return length >= 2 ? 256 : -1;
      case OptionCode.overload:
        return -1;
      default:
        return 0;
    }
  }

  #readRelayInformation(packet: Uint8Array, start: number, length: number): boolean {
    this.relayInformationStart = start;
    this.relayInformationLength = length;
    const link = readLinkSelection(packet, start, start + length);
    if (link === 'malformed') return false;
    this.linkSelection = link ?? 0;
    return true;
  }
}

function isFromEthernetClient(packet: Uint8Array): boolean {
  return (
    packet[Offset.op] === OP_REQUEST &&
    packet[Offset.htype] === HTYPE_ETHERNET &&
    packet[Offset.hlen] === MAC_ADDRESS_LENGTH &&
    readUint32(packet, Offset.cookie) === MAGIC_COOKIE &&
    isHostMacAddress(packet, Offset.chaddr)
  );
}

/** True if the address is neither a group address nor zero. */
function isHostMacAddress(packet: Uint8Array, offset: number): boolean {
  if (((packet[offset] as number) & 1) === 1) return false;
  return readUint32(packet, offset) !== 0 || readUint16(packet, offset + 4) !== 0;
}
