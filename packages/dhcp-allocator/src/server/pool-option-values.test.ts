import { describe, expect, it } from 'vitest';
import { decodeOption, type OptionName, optionNameOf } from '../options/option-registry.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { bootValues, poolOptionValues } from './pool-option-values.js';

function poolOf(definition: Partial<PoolDefinition> = {}) {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', ...definition });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

/** The pool's options as a client reads them, by name. */
function read(definition: Partial<PoolDefinition> = {}): Record<string, unknown> {
  return Object.fromEntries(
    [...poolOptionValues(poolOf(definition))].map(([code, value]) => {
      const name = optionNameOf(code) as OptionName;
      return [name, decodeOption(name, value)];
    }),
  );
}

const route = (network: number, prefixLength: number, gateway: number) => ({ destination: { network, prefixLength }, gateway });

describe('the options of a pool', () => {
  it('a pool that specifies nothing sends its mask and its broadcast address', () => {
    expect(read()).toEqual({ subnetMask: 0xffffff00, broadcastAddress: 0x0a0000ff });
  });

  it('each option that a pool specifies is sent, in this order: the mask first, routes before the router', () => {
    const options = {
      router: '10.0.0.254',
      dnsServers: ['10.0.0.53', '10.0.0.54'],
      domainName: 'lab.example',
      domainSearch: ['lab.example', 'example'],
      ntpServers: ['10.0.0.123'],
      mtu: 1400,
      staticRoutes: [{ destination: '10.5.0.0/16', gateway: '10.0.0.7' }],
      byCode: [{ code: 2, value: '-3600' }],
    };
    const values = read({ options });
    expect(values).toEqual({
      subnetMask: 0xffffff00,
      classlessStaticRoutes: [route(0x0a050000, 16, 0x0a000007), route(0, 0, 0x0a0000fe)],
      routers: [0x0a0000fe],
      domainNameServers: [0x0a000035, 0x0a000036],
      domainName: 'lab.example',
      domainSearch: ['lab.example', 'example'],
      ntpServers: [0x0a00007b],
      interfaceMtu: 1400,
      broadcastAddress: 0x0a0000ff,
      timeOffset: -3600,
    });
    expect(Object.keys(values).slice(0, 3)).toEqual(['subnetMask', 'classlessStaticRoutes', 'routers']);
  });

  it.each<[string, string, string, boolean]>([
    ['/30', '10.0.0.0/30', '10.0.0.1', true],
    ['/31, RFC 3021', '10.0.0.0/31', '10.0.0.1', false],
  ])('a subnet of %s has a broadcast address: %s', (_name, cidr, serverAddress, has) => {
    const checked = validatePool({ name: 'net', cidr, serverAddress });
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    expect(poolOptionValues(checked.value).has(28)).toBe(has);
  });
});

describe('RFC 3442: a client that reads option 121 ignores option 3, so the default route is in both', () => {
  const routes = (options: PoolDefinition['options']) => read({ options: options ?? {} })['classlessStaticRoutes'];
  const other = { destination: '10.5.0.0/16', gateway: '10.0.0.7' };

  it.each<[string, PoolDefinition['options'], unknown]>([
    ['a router and no routes: no option 121', { router: '10.0.0.254' }, undefined],
    ['routes and no router: the routes alone', { staticRoutes: [other] }, [route(0x0a050000, 16, 0x0a000007)]],
    [
      'routes and a router: the default route is added at the end',
      { router: '10.0.0.254', staticRoutes: [other] },
      [route(0x0a050000, 16, 0x0a000007), route(0, 0, 0x0a0000fe)],
    ],
    [
      'a default route that the pool names, and a router: it is not added again',
      { router: '10.0.0.254', staticRoutes: [other, { destination: '0.0.0.0/0', gateway: '10.0.0.9' }] },
      [route(0x0a050000, 16, 0x0a000007), route(0, 0, 0x0a000009)],
    ],
  ])('%s', (_name, options, expected) => expect(routes(options)).toEqual(expected));
});

describe('where a client boots from', () => {
  it('a boot server is in siaddr and in options 66 (text) and 150 (octets)', () => {
    const { nextServer, bootFile, options } = bootValues({ nextServer: 0x0a000045, bootFile: undefined } as never);
    expect([nextServer, bootFile.length]).toEqual([0x0a000045, 0]);
    expect([...options.keys()]).toEqual([66, 150]);
    expect(decodeOption('tftpServerName', options.get(66) as Uint8Array)).toBe('10.0.0.69');
    expect(decodeOption('tftpServerAddresses', options.get(150) as Uint8Array)).toEqual([0x0a000045]);
  });

  it('a boot file is in file and in option 67, and nothing is sent without either', () => {
    const { nextServer, options } = bootValues({ bootFile: 'boot.efi' });
    expect([nextServer, [...options.keys()]]).toEqual([0, [67]]);
    expect(decodeOption('bootFileName', options.get(67) as Uint8Array)).toBe('boot.efi');
    expect([...bootValues({}).options]).toEqual([]);
  });
});
