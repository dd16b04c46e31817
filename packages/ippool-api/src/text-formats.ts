/** Text formats that several kinds share. The schemas are built from them, and they check the text of agents without a schema. */

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `${OCTET}(\\.${OCTET}){3}`;

export interface TextFormat {
  /** In characters. It also limits the estimated cost of rules on the field. */
  readonly most: number;
  readonly pattern: RegExp;
  /** What is wrong with a text that does not match, and how to write it. */
  readonly problem: string;
}

export const IPV4_ADDRESS: TextFormat = {
  most: 15,
  pattern: new RegExp(`^${IPV4}$`),
  problem: 'is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
};

export const IPV4_ADDRESS_OR_RANGE: TextFormat = {
  most: 31,
  pattern: new RegExp(`^${IPV4}(-${IPV4})?$`),
  problem: 'is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19',
};

export const IPV4_ADDRESS_OR_CIDR: TextFormat = {
  most: 18,
  pattern: new RegExp(`^${IPV4}(/(3[0-2]|[12]?[0-9]))?$`),
  problem: 'is neither an IPv4 address nor a subnet; write 192.0.2.1 or 192.0.2.0/24',
};

export const IPV4_CIDR: TextFormat = {
  most: 18,
  pattern: new RegExp(`^${IPV4}/(3[0-2]|[12]?[0-9])$`),
  problem: 'is not an IPv4 subnet; write address/prefix length, as in 192.168.48.0/24',
};

/** The characters of an address: whether it is one is checked where it is read. */
export const IPV6_ADDRESS: TextFormat = {
  most: 45,
  pattern: /^[0-9A-Fa-f:.]{2,45}$/,
  problem: 'is not an IPv6 address; write it as in 2001:db8:48::53',
};

export const IPV6_CIDR: TextFormat = {
  most: 49,
  pattern: /^[0-9A-Fa-f:.]{2,45}\/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$/,
  problem: 'is not an IPv6 prefix; write address/prefix length, as in 2001:db8:48::/64',
};

/** Any common spelling; compared in canonical form. */
export const MAC_ADDRESS: TextFormat = {
  most: 17,
  pattern:
    /^([0-9A-Fa-f]{1,2}(:[0-9A-Fa-f]{1,2}){5}|[0-9A-Fa-f]{1,2}(-[0-9A-Fa-f]{1,2}){5}|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{12})$/,
  problem: 'is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
};

/** Source: Kubernetes, `IsQualifiedName`; the prefix is a DNS subdomain. */
export const LABEL_KEY: TextFormat = {
  most: 317,
  pattern: /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  problem: 'is not the key of a label; write it as in network.example.org/br1',
};

/** Source: Kubernetes, `IsValidLabelValue`. */
export const LABEL_VALUE: TextFormat = {
  most: 63,
  pattern: /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
  problem: 'is not the value of a label; write up to 63 letters, digits, -, _ or .',
};

/** The value, if it is a text of this format. */
export function textOfFormat(value: unknown, { most, pattern }: TextFormat): string | undefined {
  return typeof value === 'string' && value.length <= most && pattern.test(value) ? value : undefined;
}
