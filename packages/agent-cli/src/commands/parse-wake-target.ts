/** Parsers of options of `wake` and `wol`. */
import { isGroupMacAddress, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { parseSecureOnPassword, type SecureOnPassword } from '@vmdhcp/wake-on-lan';
import { InvalidArgumentError } from 'commander';

/** The MAC address of a machine, in any spelling. @throws InvalidArgumentError */
export function parseMachineAddress(text: string): MacAddress {
  const macAddress = parseMacAddress(text);
  if (macAddress === undefined) throw new InvalidArgumentError('write six octets, as in 52:54:00:12:34:56.');
  if (macAddress === '00:00:00:00:00:00') throw new InvalidArgumentError('no machine has this address: it is all zeros.');
  if (isGroupMacAddress(macAddress)) throw new InvalidArgumentError('no machine has this address: it is a multicast address.');
  return macAddress;
}

/**
 * Parses the octets of a password, ignoring the line end that Secrets often have.
 * @throws CommandError without the text: it may come from a Secret, and commander would show it.
 */
export function parsePassword(text: string): SecureOnPassword {
  const password = parseSecureOnPassword(text.trim());
  if (password !== undefined) return password;
  throw new CommandError(
    'the value of --password (or of the variable VMDHCP_WOL_PASSWORD) is not a SecureOn password; write four or six octets, as in 00:22:44:66:88:aa or 192.168.1.1',
    ExitCode.usage,
  );
}
