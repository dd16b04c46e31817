import { type ClientMessageType, messageTypeOf } from '@vmdhcp/dhcp-allocator';

const OPTIONS = 240;
const [PAD, MESSAGE_TYPE, END] = [0, 53, 255];

/** The message type in a packet, which may contain anything; undefined if it cannot be read. */
export function messageTypeIn(packet: Uint8Array): ClientMessageType | undefined {
  let at = OPTIONS;
  while (at + 2 < packet.length && packet[at] !== END) {
    if (packet[at] === PAD) at++;
    else if (packet[at] === MESSAGE_TYPE) return clientType(packet[at + 2] as number);
    else at += 2 + (packet[at + 1] as number);
  }
  return undefined;
}

function clientType(code: number): ClientMessageType | undefined {
  const type = messageTypeOf(code);
  return type === 'offer' || type === 'ack' || type === 'nak' ? undefined : type;
}
