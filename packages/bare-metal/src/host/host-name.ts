/** Names of HostStatus objects: `<clusterAgent>-<address with dashes>`. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';

const NAME = /^(.+)-(\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const MOST_OF_NAME = 253;
const MOST_OF_LABEL = 63;

/** The name of the object of an address. */
export function hostStatusName(clusterAgent: string, address: string): string {
  return `${clusterAgent}-${address.toLowerCase().replaceAll(/[.:]/g, '-')}`;
}

/**
 * Which ClusterAgent and which IPv4 address a name is made of; undefined: it is no such name. The last four numbers are the address, so that a name
 * has one reading, also where names of ClusterAgents end with numbers.
 */
export function parseHostStatusName(name: string): { readonly clusterAgent: string; readonly address: string } | undefined {
  const [, clusterAgent = '', numbers = ''] = NAME.exec(name) ?? [];
  const address = numbers.replaceAll('-', '.');
  return clusterAgent === '' || parseIpv4Address(address) === undefined ? undefined : { clusterAgent, address };
}

/** True for a name that the API server takes. */
export function isObjectName(name: string): boolean {
  return name.length <= MOST_OF_NAME && SUBDOMAIN.test(name);
}

/** True for a value of a label that the API server takes. */
export function isLabelValue(value: string): boolean {
  return value.length <= MOST_OF_LABEL && LABEL_VALUE.test(value);
}
