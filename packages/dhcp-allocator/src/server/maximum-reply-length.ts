import { DEFAULT_MAXIMUM_MESSAGE_LENGTH, IP_UDP_HEADER_LENGTH, LARGEST_REPLY_LENGTH } from '../wire/layout.js';

/**
 * Octets of the largest reply to a client, 548 to 1472.
 * @param messageSize - option 57, which counts IP and UDP header; undefined: the client sets none. Less than 576 is not allowed, and read as 576.
 *
 * Source: RFC 2132 §9.10.
 */
export function maximumReplyLength(messageSize: number | undefined): number {
  if (messageSize === undefined) return DEFAULT_MAXIMUM_MESSAGE_LENGTH;
  return Math.min(Math.max(messageSize - IP_UDP_HEADER_LENGTH, DEFAULT_MAXIMUM_MESSAGE_LENGTH), LARGEST_REPLY_LENGTH);
}
