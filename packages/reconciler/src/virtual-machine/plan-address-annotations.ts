/**
 * Shows the addresses of a virtual machine on the machine itself, where people and other programs look: nobody else knows them if its guest has no
 * agent.
 */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { ASSIGNED_ADDRESSES_ANNOTATION, CUSTOM_IP_ANNOTATION, networkKey } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, type MergePatch, readList, readText } from '@vmdhcp/kube-runtime';
import { parseAnnotationRecord, readRememberedInterfaces } from './remembered-interfaces.js';

/**
 * The patch after which the annotations of a virtual machine name the addresses that its VirtualMachineNetworkConfig shows as allocated; undefined if
 * they do already. The address for Harvester's list is left as it is where somebody else has written it.
 */
export function planAddressAnnotations(
  virtualMachine: KubernetesObject,
  config: KubernetesObject | undefined,
): MergePatch | undefined {
  const { annotations = {} } = virtualMachine.metadata;
  const { [ASSIGNED_ADDRESSES_ANNOTATION]: shown, [CUSTOM_IP_ANNOTATION]: custom } = annotations;
  const assigned = assignedAddresses(virtualMachine, config);
  const text = Object.keys(assigned).length === 0 ? undefined : JSON.stringify(assigned);
  const isOurs = custom === undefined || custom === firstIpv4AddressIn(shown);
  const wanted = { [ASSIGNED_ADDRESSES_ANNOTATION]: text, [CUSTOM_IP_ANNOTATION]: isOurs ? firstIpv4AddressIn(text) : custom };
  const changed = Object.entries(wanted).filter(([key, value]) => annotations[key] !== value);
  if (changed.length === 0) return undefined;
  return { metadata: { annotations: Object.fromEntries(changed.map(([key, value]) => [key, value ?? null])) } };
}

/** By interface name, in the order of the virtual machine, though names that are numbers come first: IPv4 before IPv6. */
function assignedAddresses(
  { spec }: KubernetesObject,
  config: KubernetesObject | undefined,
): Readonly<Record<string, readonly string[]>> {
  if (config === undefined || isBeingDeleted(config)) return {};
  const { namespace } = config.metadata;
  const interfaces = [...readRememberedInterfaces(config)];
  const nameOf = (entry: unknown): string | undefined => {
    const network = networkKey(readText(entry, 'networkName') ?? '', namespace);
    const macAddress = readText(entry, 'macAddress');
    const here = interfaces.filter(([, { networkName }]) => networkKey(networkName, namespace) === network);
    // A machine that starts with another MAC address keeps the address, and its status follows.
    const [name] =
      here.find(([, one]) => one.macAddress === macAddress) ??
      here.find(([, { replaces }]) => replaces.some((one) => one === macAddress)) ??
      [];
    return name;
  };
  const assigned = readList(config.status, 'networkConfigs').flatMap((entry) => {
    const name = readText(entry, 'state') === 'Allocated' ? nameOf(entry) : undefined;
    const addresses = ['allocatedIPAddress', 'allocatedIPv6Address'].flatMap((field) => readText(entry, field) ?? []);
    return name === undefined ? [] : [[name, addresses] as const];
  });
  const order = readList(spec, 'template', 'spec', 'domain', 'devices', 'interfaces').map((one) => readText(one, 'name'));
  return Object.fromEntries(assigned.toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

function firstIpv4AddressIn(text: string | undefined): string | undefined {
  const texts = Object.values(parseAnnotationRecord(text ?? '')).flat();
  return texts.find((one): one is string => typeof one === 'string' && parseIpv4Address(one) !== undefined);
}
