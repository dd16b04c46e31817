/** Names of HostStatus objects: `<clusterAgent>-<address with dashes>`. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';

const NAME = /^(.+)-(\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const MOST_OF_NAME = 253;
const MOST_OF_LABEL = 63;

/** The name of the object for an address. */
export function hostStatusName(clusterAgent: string, address: string): string {
  return `${clusterAgent}-${address.toLowerCase().replaceAll(/[.:]/g, '-')}`;
}

/**
 * The ClusterAgent and the IPv4 address in a name; undefined if it is not such a name. The last four numbers are the address, so
 * a name is unambiguous even if the name of its ClusterAgent ends with numbers.
 */
export function parseHostStatusName(name: string): { readonly clusterAgent: string; readonly address: string } | undefined {
  const [, clusterAgent = '', numbers = ''] = NAME.exec(name) ?? [];
  const address = numbers.replaceAll('-', '.');
  return clusterAgent === '' || parseIpv4Address(address) === undefined ? undefined : { clusterAgent, address };
}

/** True for a valid object name. */
export function isObjectName(name: string): boolean {
  return name.length <= MOST_OF_NAME && SUBDOMAIN.test(name);
}

/** True for a valid label value. */
export function isLabelValue(value: string): boolean {
  return value.length <= MOST_OF_LABEL && LABEL_VALUE.test(value);
}
