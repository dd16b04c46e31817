import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HostPoolReading, readHostPool } from './host-pool.js';
import { clusterAgent, ip } from './hosts-fixtures.js';

function served(reading: HostPoolReading) {
  if (reading.kind !== 'served') throw new Error(JSON.stringify(reading));
  return reading;
}

describe('the pool of a ClusterAgent', () => {
  it('has a range for unknown clients, its gateway, and selfIp as the server', () => {
    const { pool, self, interfaceName, warnings } = served(readHostPool(clusterAgent(), []));
    expect({ interfaceName, warnings, self }).toEqual({
      interfaceName: 'net1',
      warnings: [],
      self: { address: ip('10.0.0.2'), prefixLength: 24 },
    });
    expect(pool).toMatchObject({
      name: 'rack',
      serverAddress: ip('10.0.0.2'),
      dynamic: [{ first: ip('10.0.0.10'), last: ip('10.0.0.19') }],
      leaseTimeSeconds: 604_800,
    });
    expect(pool.options.router).toBe(ip('10.0.0.1'));
  });

  it("has the interface's address of the subnet as the server if selfIp is not set", () => {
    const present = [
      { address: ip('172.16.0.1'), prefixLength: 16 },
      { address: ip('10.0.0.5'), prefixLength: 24 },
    ];
    const { pool, self } = served(readHostPool(clusterAgent({ selfIp: undefined }), present));
    expect([self, formatIpv4Address(pool.serverAddress)]).toEqual([undefined, '10.0.0.5']);
  });

  it('has the configured boot files, servers and lease time', () => {
    const { pool, warnings } = served(
      readHostPool(
        clusterAgent({
          ...{ dns: ['10.0.0.53'], ntp: ['10.0.0.123'], leaseTime: 3600, nextServer: '10.0.0.3', bootfile: 'pxelinux.0' },
          bootByArchitecture: [{ architecture: 7, bootfile: 'ipxe.efi' }],
        }),
        [],
      ),
    );
    expect(warnings).toEqual([]);
    expect(pool).toMatchObject({ leaseTimeSeconds: 3600, options: { bootFile: 'pxelinux.0' } });
    expect(JSON.stringify([...pool.options.bootByArchitecture])).toContain('ipxe.efi');
  });

  it('omits and reports other settings that are invalid', () => {
    const { warnings } = served(readHostPool(clusterAgent({ dns: ['10.0.0.999'] }), []));
    expect(warnings).toEqual([expect.stringContaining('spec.feature.dhcpServerConfig.dns')]);
  });

  it.each<[what: string, config: Readonly<Record<string, unknown>>, problems: string[]]>([
    [
      'every problem at once',
      { subnet: 'x', gateway: '10.0.0.1000' },
      ['spec.feature.dhcpServerConfig.subnet: "x" is not an IPv4 subnet', 'spec.feature.dhcpServerConfig.gateway: "10.0.0.1000"'],
    ],
    [
      'octets above 255, which the definition accepts',
      { ipRange: '999.0.0.1-999.0.0.2' },
      ['spec.feature.dhcpServerConfig.ipRange'],
    ],
    [
      'no address for the server',
      { selfIp: undefined },
      ['selfIp is not set, and interface net1 has only 10.0.0.5/16: write selfIp'],
    ],
  ])('is not served: %s', (_, config, expected) => {
    const reading = readHostPool(clusterAgent(config), [{ address: ip('10.0.0.5'), prefixLength: 16 }]);
    if (reading.kind !== 'unserved') throw new Error(reading.kind);
    expect(reading.problems).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it('does not exist if DHCP is switched off', () => {
    const object = clusterAgent();
    const off = { ...object, spec: { agentYaml: { underlayInterface: 'ns/net' }, feature: { enableDhcpServer: false } } };
    expect(readHostPool(off as typeof object, undefined)).toEqual({ kind: 'off' });
  });

  it('law: whatever is stored, reading it does not throw', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.dictionary(fc.constantFrom('subnet', 'dns', 'selfIp', 'leaseTime'), fc.anything()),
        (spec, config) => {
          readHostPool({ ...clusterAgent(), spec } as ReturnType<typeof clusterAgent>, []);
          readHostPool(clusterAgent(config), []);
        },
      ),
    );
  });
});
