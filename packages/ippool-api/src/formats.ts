import { z } from 'zod';

/** Text formats that several kinds share. Each is a pattern too, so that the API server enforces it as we do. */

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `${OCTET}(\\.${OCTET}){3}`;

export const ipv4Address = () =>
  z
    .string()
    // Bounds what rules on it are estimated to cost.
    .max(15)
    .regex(new RegExp(`^${IPV4}$`), 'is no IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10')
    .meta({ format: 'ipv4' });

export const ipv4AddressOrRange = () =>
  z
    .string()
    .max(31)
    .regex(
      new RegExp(`^${IPV4}(-${IPV4})?$`),
      'is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19',
    );

export const ipv4AddressOrCidr = () =>
  z
    .string()
    .max(18)
    .regex(
      new RegExp(`^${IPV4}(/(3[0-2]|[12]?[0-9]))?$`),
      'is neither an IPv4 address nor a subnet; write 192.0.2.1 or 192.0.2.0/24',
    );

export const ipv4Cidr = () =>
  z
    .string()
    .max(18)
    .regex(new RegExp(`^${IPV4}/(3[0-2]|[12]?[0-9])$`), 'is no IPv4 subnet; write address/prefix length, as in 192.168.48.0/24');

/** Any common spelling; compared in canonical form. */
export const macAddress = () =>
  z
    .string()
    .max(17)
    .regex(
      /^([0-9A-Fa-f]{1,2}(:[0-9A-Fa-f]{1,2}){5}|[0-9A-Fa-f]{1,2}(-[0-9A-Fa-f]{1,2}){5}|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{12})$/,
      'is no MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
    );

/** The CEL rule of a field that never changes once it is set. */
export function immutable(name: string): { 'x-kubernetes-validations': { rule: string; message: string }[] } {
  return { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: `${name} is immutable` }] };
}
