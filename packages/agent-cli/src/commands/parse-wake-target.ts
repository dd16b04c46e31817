/** What `wake` and `wol` read from their options. */
import { isGroupMacAddress, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { parseSecureOnPassword, type SecureOnPassword } from '@vmdhcp/wake-on-lan';
import { InvalidArgumentError } from 'commander';

/** The MAC address of a machine, in any spelling. @throws InvalidArgumentError */
export function parseMachineAddress(text: string): MacAddress {
  const macAddress = parseMacAddress(text);
  if (macAddress === undefined) throw new InvalidArgumentError('write six octets, as in 52:54:00:12:34:56.');
  if (isGroupMacAddress(macAddress)) throw new InvalidArgumentError('no machine has this address: it is a multicast address.');
  return macAddress;
}

/** @throws InvalidArgumentError */
export function parsePassword(text: string): SecureOnPassword {
  const password = parseSecureOnPassword(text);
  if (password === undefined) throw new InvalidArgumentError('write four or six octets, as in 00:22:44:66:88:aa or 192.168.1.1.');
  return password;
}
