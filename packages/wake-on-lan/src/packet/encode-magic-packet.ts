import { macAddressBytes } from '@vmdhcp/dhcp-allocator/address';
import { MAGIC_PACKET_LENGTH, type MagicPacket, REPETITIONS, SYNCHRONIZATION_LENGTH } from './magic-packet.js';
import { isPasswordLength } from './secure-on-password.js';

/**
 * The 102, 106 or 108 octets of a magic packet: the payload of a UDP datagram or of a frame.
 * @throws RangeError for a password of another length than 4 or 6 octets.
 */
export function encodeMagicPacket({ macAddress, password }: MagicPacket): Uint8Array {
  const passwordLength = password?.length ?? 0;
  if (passwordLength !== 0 && !isPasswordLength(passwordLength))
    throw new RangeError(`a SecureOn password of ${passwordLength} octets; it has 4 or 6`);
  const octets = new Uint8Array(MAGIC_PACKET_LENGTH + passwordLength).fill(0xff, 0, SYNCHRONIZATION_LENGTH);
  const address = macAddressBytes(macAddress);
  for (let repetition = 0; repetition < REPETITIONS; repetition++)
    octets.set(address, SYNCHRONIZATION_LENGTH + repetition * address.length);
  if (password !== undefined) octets.set(password, MAGIC_PACKET_LENGTH);
  return octets;
}
