import { describe, expect, it } from 'vitest';
import { routerConditions, withLastRouterReady } from './router-conditions.js';

const POOL = { network: 'default/net-48' };
const ROUTER = { address: 'fe80::1', macAddress: '02:00:00:00:99:01', isDefaultRouter: true, isManaged: true };
const MACHINE = { ...ROUTER, address: 'fe80::a', macAddress: '02:00:00:00:00:0a' };
const isMachine = (macAddress: string) => macAddress === MACHINE.macAddress;

describe('the condition RouterReady', () => {
  it.each<[string, (typeof ROUTER)[], string[] | undefined, string]>([
    ['a router that tells hosts to ask', [ROUTER], undefined, 'True'],
    ['no router', [], undefined, 'NoRouter'],
    ['a router that offers no default route', [{ ...ROUTER, isDefaultRouter: false }], undefined, 'NoRouter'],
    ['a router that says M=0', [{ ...ROUTER, isManaged: false }], undefined, 'RouterSaysNoManaged'],
    [
      'two routers, one of which says M=0',
      [ROUTER, { ...ROUTER, address: 'fe80::2', isManaged: false }],
      undefined,
      'RouterSaysNoManaged',
    ],
    [
      'M=0 of a host that offers no default route',
      [ROUTER, { ...ROUTER, address: 'fe80::2', isDefaultRouter: false, isManaged: false }],
      undefined,
      'True',
    ],
    ['a machine of the pool', [ROUTER, MACHINE], undefined, 'RogueRouter'],
    [
      'a machine of the pool that offers no default route',
      [ROUTER, { ...MACHINE, isDefaultRouter: false }],
      undefined,
      'RogueRouter',
    ],
    ['a machine of the pool that is named', [MACHINE], ['FE80:0::a'], 'True'],
    [
      'a machine of the pool with the address of a named router',
      [ROUTER, { ...MACHINE, address: 'fe80::1' }],
      ['fe80::1'],
      'RogueRouter',
    ],
    ['a host that is not named', [ROUTER, { ...ROUTER, address: 'fe80::2' }], ['fe80::1'], 'RogueRouter'],
    ['no router where one is named', [], ['fe80::1'], 'NoRouter'],
    ['no router where there should be none', [], [], 'True'],
    ['a router where there should be none', [ROUTER], [], 'RogueRouter'],
  ])('%s', (_, found, addresses, expected) => {
    const [condition] = routerConditions(found, POOL, { addresses, areSilent: false, isMachine });
    expect(condition?.type).toBe('RouterReady');
    expect(condition?.reason ?? condition?.status).toBe(expected);
  });

  it.each<[string, (typeof ROUTER)[], string]>([
    ['a router that answers', [ROUTER], 'True'],
    ['one that does not', [], 'NoRouter'],
    ['a host that does not forward packets', [{ ...ROUTER, isDefaultRouter: false }], 'NoRouter'],
    ['a machine of the pool that answers, too', [ROUTER, { ...MACHINE, address: 'fe80::1' }], 'RogueRouter'],
    ['another router', [ROUTER, { ...ROUTER, address: 'fe80::2' }], 'RogueRouter'],
  ])('is told by answers where agents advertise the routers: %s', (_, found, expected) => {
    const [condition] = routerConditions(found, POOL, { addresses: ['fe80::1'], areSilent: true, isMachine });
    expect(condition?.reason ?? condition?.status).toBe(expected);
    if (expected === 'NoRouter')
      expect(condition?.message).toBe(
        'no router of network default/net-48 answers as a router at fe80::1, to which agents advertise a default route: machines reach nothing beyond the network by IPv6; see that it is up, has that address there and forwards IPv6, or correct spec.ipv6Config.routers',
      );
  });

  it('is absent while the routers are not known, and of a pool without IPv6', () => {
    expect(routerConditions(undefined, POOL, { addresses: undefined, areSilent: false, isMachine })).toEqual([]);
    expect(routerConditions([MACHINE], POOL, undefined)).toEqual([]);
  });

  it('names the network, the host and what to do next', () => {
    expect(routerConditions([MACHINE, ROUTER], POOL, { addresses: undefined, areSilent: false, isMachine })[0]?.message).toBe(
      'on network default/net-48, a host that should not be a router sends IPv6 Router Advertisements: fe80::a (02:00:00:00:00:0a); switch that off there, or list each router of the network in spec.ipv6Config.routers (others that are heard: fe80::1 (02:00:00:00:99:01))',
    );
  });
});

describe('a condition RouterReady of earlier', () => {
  const served = [{ type: 'AgentReady', status: 'True' }] as const;
  const ready = { type: 'RouterReady', status: 'True' } as const;
  const before = { conditions: [{ type: 'RouterReady', status: 'False', reason: 'NoRouter' }] };

  it.each<[string, Parameters<typeof withLastRouterReady>, unknown]>([
    [
      'is Unknown where the routers are not known any more',
      [served, before],
      [...served, { type: 'RouterReady', status: 'Unknown' }],
    ],
    ['is replaced', [[...served, ready], before], [...served, ready]],
    ['stays while nothing is known about the agents', [[], before], []],
    ['is not made where there was none', [served, { conditions: [] }], served],
  ])('%s', (_, [known, status], expected) => {
    expect(withLastRouterReady(known, status)).toEqual(expected);
  });
});
