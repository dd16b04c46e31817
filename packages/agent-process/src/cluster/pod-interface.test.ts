import { describe, expect, it } from 'vitest';
import { defaultRouteOf, podInterface } from './pod-interface.js';

const INTERFACES = {
  lo: ['127.0.0.1', '::1'],
  eth0: ['10.42.0.7', 'fd00::7', 'fe80::7'],
  net1: ['192.168.48.2', 'fe80::48'],
};

describe('podInterface', () => {
  it.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['10.42.0.7', '10.42.0.7', 'eth0', 'eth0'],
    ['fd00::7', 'fd00::7', undefined, 'eth0'],
    ['127.0.0.1', undefined, 'eth0', 'lo'],
    ['::', '10.42.0.7', 'net1', 'eth0'],
    ['0.0.0.0', 'fd00::7', undefined, 'eth0'],
    ['::', undefined, 'eth0', 'eth0'],
    ['::', '10.42.0.99', 'eth0', 'eth0'],
    ['::', undefined, undefined, undefined],
    ['10.42.0.99', '10.42.0.7', 'eth0', undefined],
  ])('listens for %s with pod address %s and the default route on %s: %s', (host, podAddress, defaultRoute, expected) => {
    expect(podInterface(host, { interfaces: INTERFACES, podAddress, defaultRoute })).toBe(expected);
  });
});

describe('defaultRouteOf', () => {
  const HEADER = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
  const LINK = 'net1\t0030A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n';
  const DEFAULT = 'eth0\t00000000\t01002A0A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n';
  const ZERO = '0'.repeat(32);
  const line6 = (to: string, name: string) => `${to} ${ZERO} 00 ${ZERO} 00000400 00000001 00000000 00000003 ${name}\n`;

  it.each([
    ['IPv4', HEADER + LINK + DEFAULT, '', 'eth0'],
    ['IPv6 only', HEADER + LINK, line6(`${ZERO} 00`, 'lo') + line6(`${ZERO} 00`, 'eth0'), 'eth0'],
    ['none', HEADER + LINK, line6(`${ZERO} 00`, 'lo') + line6(`fd00${ZERO.slice(4)} 40`, 'eth0'), undefined],
    ['no families', '', '', undefined],
  ])('%s', (_, ipv4, ipv6, expected) => {
    expect(defaultRouteOf(ipv4, ipv6)).toBe(expected);
  });
});
