/** What a person names on the command line. */
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { ClientSubject } from '@vmdhcp/reconciler/chain';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { MachineName } from './observe-chain.js';

/** Undefined: the text is the name of a virtual machine. */
export function clientIn(text: string): ClientSubject | undefined {
  const address = parseIpv4Address(text);
  if (address !== undefined) return { kind: 'address', address };
  const macAddress = parseMacAddress(text);
  return macAddress === undefined ? undefined : { kind: 'mac-address', macAddress };
}

/** `namespace/name`, or a name in this namespace; `vm/web` as kubectl writes it. @throws CommandError for anything else. */
export function machineIn(text: string, namespace: string): MachineName {
  const parts = text.replace(/^(vm|vms|virtualmachines?)\//, '').split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || first === '' || second === '')
    throw new CommandError(`${text}: write NAME, NAMESPACE/NAME, a MAC address or an IPv4 address`, ExitCode.usage);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
