import { z } from 'zod';
import {
  IPV4_ADDRESS,
  IPV4_ADDRESS_OR_CIDR,
  IPV4_ADDRESS_OR_RANGE,
  IPV4_CIDR,
  IPV6_ADDRESS,
  IPV6_CIDR,
  LABEL_KEY,
  LABEL_VALUE,
  MAC_ADDRESS,
  type TextFormat,
} from './text-formats.js';

/** Text formats that several kinds share. Each is also a pattern, so that the API server enforces the same format. */

const text = ({ most, pattern, problem }: TextFormat) => z.string().max(most).regex(pattern, problem);

export const ipv4Address = () => text(IPV4_ADDRESS).meta({ format: 'ipv4' });
export const ipv4AddressOrRange = () => text(IPV4_ADDRESS_OR_RANGE);
export const ipv4AddressOrCidr = () => text(IPV4_ADDRESS_OR_CIDR);
export const ipv4Cidr = () => text(IPV4_CIDR);
export const ipv6Address = () => text(IPV6_ADDRESS);
export const ipv6Cidr = () => text(IPV6_CIDR);
export const macAddress = () => text(MAC_ADDRESS);
export const nodeLabels = () => z.record(text(LABEL_KEY), text(LABEL_VALUE));

/** The CEL rule of a field that never changes once it is set. */
export function immutable(name: string, kind = 'IPPool'): { 'x-kubernetes-validations': { rule: string; message: string }[] } {
  const message = `${name} is immutable: to change it, delete the ${kind} and create it again`;
  return { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message }] };
}
