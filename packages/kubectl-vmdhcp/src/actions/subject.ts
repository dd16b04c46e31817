/** Parses the subject that a person names on the command line. */
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { ClientSubject } from '@vmdhcp/explain';
import type { MachineName } from '@vmdhcp/explain/observe';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

/** Undefined if the text is the name of a virtual machine. @throws CommandError for an invalid address. */
export function clientIn(text: string): ClientSubject | undefined {
  const address = parseIpv4Address(text);
  if (address !== undefined) return { kind: 'address', address };
  const macAddress = parseMacAddress(text);
  if (macAddress !== undefined) return { kind: 'mac-address', macAddress };
  if (LIKE_IPV4.test(text))
    throw new CommandError(
      `${text} is not an IPv4 address; if it is the name of a virtual machine, write NAMESPACE/NAME`,
      ExitCode.usage,
    );
  return undefined;
}

const LIKE_IPV4 = /^\d+(\.\d+){3}$/;
/** A valid Kubernetes name. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** `namespace/name`, or a name in this namespace; `vm/web` as kubectl writes it. @throws CommandError for anything else. */
export function machineIn(text: string, namespace: string): MachineName {
  const parts = text.replace(/^(vm|vms|virtualmachines?)\//, '').split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || !parts.every((part) => NAME.test(part)))
    throw new CommandError(`${text}: write NAME, NAMESPACE/NAME, a MAC address or an IPv4 address`, ExitCode.usage);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
