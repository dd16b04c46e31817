import { describe, expect, it } from 'vitest';
import * as libc from '../libc/constants.js';
import type { Netlink } from '../netlink/netlink.js';
import { NetlinkError } from '../netlink/netlink-error.js';
import type { NetlinkRequest } from '../netlink/netlink-message.js';
import { type RECORDED_REQUESTS, readRecorded, readWritten } from '../netlink/recorded-messages-fixtures.js';
import {
  addRoute,
  addRouteRequest,
  addRule,
  addRuleRequest,
  deleteRoute,
  deleteRule,
  type RoutingRule,
  TABLE_LOCAL,
} from './routing-rules.js';

const DROP: RoutingRule = { family: libc.AF_INET, priority: 900, incomingInterface: 'net1', action: 'drop' };
const ROUTE = { table: 670_000_005, interfaceIndex: 5 };

describe('rules and routes, beside those of ip, recorded', () => {
  it.each<[keyof typeof RECORDED_REQUESTS, RoutingRule]>([
    ['ip rule add iif net1 priority 900 blackhole', DROP],
    ['ip -6 rule add iif net1 priority 900 blackhole', { ...DROP, family: libc.AF_INET6 }],
    [
      'ip rule add from 192.168.48.2 priority 950 lookup 670000005',
      { family: libc.AF_INET, priority: 950, from: 0xc0a83002, action: 670_000_005 },
    ],
  ])('%s', (recorded, rule) => {
    expect(readWritten(addRuleRequest(rule))).toEqual(readRecorded(recorded, 12));
  });

  it('ip route add default dev net1 table 670000005 scope link proto static', () => {
    const recorded = readRecorded('ip route add default dev net1 table 670000005 scope link proto static', 12);
    expect(readWritten(addRouteRequest(ROUTE))).toEqual(recorded);
  });

  it('a rule to an address names it with 32 bits, and its table in an attribute', () => {
    const rule = { family: libc.AF_INET, priority: 800, incomingInterface: 'net1', to: 0xc0a83002, action: TABLE_LOCAL } as const;
    expect(readWritten(addRuleRequest(rule))).toMatchObject({
      body: '022000000000000100000000',
      attributes: { 1: 'c0a83002', 3: '6e65743100', 6: '20030000', 15: 'ff000000' },
    });
  });

  it('a route of the kernel to a network names its protocol, destination and prefix length', () => {
    const destination = { address: 0x0a000000, prefixLength: 8 };
    expect(readWritten(addRouteRequest({ ...ROUTE, destination, isAddedByKernel: true }))).toMatchObject({
      body: '020800000002fd0100000000',
      attributes: { 1: '0a000000', 4: '05000000' },
    });
  });
});

describe('adding an existing rule or route, or deleting a missing one', () => {
  /** A kernel that refuses each request with an error. */
  function refusing(errorNumber: number | undefined): { kernel: Netlink; requests: NetlinkRequest[] } {
    const requests: NetlinkRequest[] = [];
    const request = (action: string, asked: NetlinkRequest) => {
      requests.push(asked);
      if (errorNumber !== undefined) throw new NetlinkError(action, errorNumber);
      return [];
    };
    return { kernel: { request } as unknown as Netlink, requests };
  }
  const EEXIST = 17;
  const ENOENT = 2;
  const ESRCH = 3;
  const EPERM = 1;

  it.each<[string, (kernel: Netlink) => boolean, number]>([
    ['addRule', (kernel) => addRule(kernel, DROP), EEXIST],
    ['deleteRule', (kernel) => deleteRule(kernel, DROP), ENOENT],
    ['addRoute', (kernel) => addRoute(kernel, ROUTE), EEXIST],
    ['deleteRoute', (kernel) => deleteRoute(kernel, ROUTE), ESRCH],
  ])('%s: changes nothing and does not throw; another error is thrown', (_, change, expected) => {
    expect(change(refusing(undefined).kernel)).toBe(true);
    expect(change(refusing(expected).kernel)).toBe(false);
    expect(() => change(refusing(EPERM).kernel)).toThrow('EPERM; grant CAP_NET_ADMIN');
  });

  it('a deletion has the same fields as the addition, without the flags for adding', () => {
    const { kernel, requests } = refusing(undefined);
    addRule(kernel, DROP);
    deleteRule(kernel, DROP);
    addRoute(kernel, ROUTE);
    deleteRoute(kernel, ROUTE);
    expect(requests.map(({ type, flags }) => [type, flags])).toEqual([
      [32, 0x600],
      [33, 0],
      [24, 0x600],
      [25, 0],
    ]);
    expect(requests[1]).toEqual({ ...requests[0], type: 33, flags: 0 });
    expect(requests[3]).toEqual({ ...requests[2], type: 25, flags: 0 });
  });
});
