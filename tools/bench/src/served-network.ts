/** The network that every measured server serves, and its clients. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { FIRST_CLIENT } from './load-generator.js';

export const CLIENTS = 10_000;
export const SERVER_ADDRESS = '10.77.0.1';
/** The address of the first client. */
export const FIRST_ADDRESS = 0x0a4d_000a;

export function macOf(client: number): string {
  return (FIRST_CLIENT + client)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');
}

export function addressOf(client: number): string {
  return formatIpv4Address(FIRST_ADDRESS + client);
}

export function eachClient<Value>(make: (client: number) => Value): Value[] {
  return Array.from({ length: CLIENTS }, (_, client) => make(client));
}
