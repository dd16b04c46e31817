import { parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { InvalidArgumentError } from 'commander';

/** The canonical form of a MAC address. @throws InvalidArgumentError */
export function parseMac(text: string): string {
  const macAddress = parseMacAddress(text);
  if (macAddress === undefined) throw new InvalidArgumentError('write six hexadecimal octets, as in 02:00:5e:10:00:01.');
  return macAddress;
}
