/** Every problem of a pool, as a person reads it: where, what, and what to do. */
import { describe, expect, it } from 'vitest';
import { describeProblem } from '../problem.js';
import type { PoolDefinition } from './pool-definition.js';
import { validatePool } from './validate-pool.js';

const BASE: PoolDefinition = { name: 'net', cidr: '10.0.0.0/24' };
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `10.0.0.${index + 1}`);

function problemsOf(definition: Partial<PoolDefinition>): string[] {
  const checked = validatePool({ ...BASE, ...definition });
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

const option = (options: PoolDefinition['options']): Partial<PoolDefinition> => (options === undefined ? {} : { options });

describe('a pool is refused with every problem', () => {
  it.each<[Partial<PoolDefinition>, string[]]>([
    [{ cidr: 'x' }, ['cidr: "x" is not an IPv4 subnet; write address/prefix length, as in 192.168.48.0/24']],
    [{ end: 'x' }, ['end: "x" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10']],
    [{ start: 'y' }, ['start: "y" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10']],
    [
      { exclude: ['10.0.0.9', 'x'] },
      ['exclude[1]: "x" is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19'],
    ],
    [
      { reservations: [{ macAddress: 'x', address: 'y', hostname: '-' }] },
      [
        'reservations[0].macAddress: "x" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
        'reservations[0].address: "y" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
        'reservations[0].hostname: "-" is not a domain name; write letters, digits, hyphens and dots, as in lab.example.org',
      ],
    ],
    [
      { reservations: [{ macAddress: '01:00:5e:00:00:01', address: '10.0.0.9' }] },
      [
        'reservations[0].macAddress: "01:00:5e:00:00:01" is a multicast MAC address, which no client has; write six hexadecimal octets, as in 02:00:5e:10:00:01',
      ],
    ],
    [
      { relays: ['10.9.0.0/24', '10.9.1.1', 'x'] },
      ['relays[2]: "x" is neither an IPv4 address nor a subnet; write 192.0.2.1 or 192.0.2.0/24'],
    ],
    [{ relays: addresses(33) }, ['relays: 33 relays are too many; list at most 32, or subnets']],
    [
      option({ staticRoutes: [{ destination: '10.9.0.1/24', gateway: 'x' }] }),
      [
        'options.staticRoutes[0].destination: "10.9.0.1/24" is a host address with a prefix length, not a subnet; write 10.9.0.0/24, or the address with /32 for one host',
        'options.staticRoutes[0].gateway: "x" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
      ],
    ],
    [
      option({ domainName: '-' }),
      ['options.domainName: "-" is not a domain name; write letters, digits, hyphens and dots, as in lab.example.org'],
    ],
    [
      option({ domainSearch: ['a.example', '..'] }),
      ['options.domainSearch[1]: ".." is not a domain name; write letters, digits, hyphens and dots, as in lab.example.org'],
    ],
    [option({ mtu: 67 }), ['options.mtu: 67 is out of bounds; write a whole number from 68 to 65535']],
    [option({ mtu: 65_536 }), ['options.mtu: 65536 is out of bounds; write a whole number from 68 to 65535']],
    [
      option({ ipv6OnlyWaitSeconds: 299 }),
      ['options.ipv6OnlyWaitSeconds: 299 is out of bounds; write a whole number from 300 to 4294967295'],
    ],
    [option({ mtu: 1400.5 }), ['options.mtu: 1400.5 is out of bounds; write a whole number from 68 to 65535']],
    [
      option({ bootFile: 'a b', nextServer: 'x' }),
      [
        'options.nextServer: "x" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
        'options.bootFile: "a b" is not a file name that a boot loader can read; write 1 to 127 printable ASCII characters',
      ],
    ],
    [
      option({ bootFile: 'x'.repeat(128) }),
      [expect.stringMatching(/^options.bootFile: "x+" is not a file name that a boot loader can read; /)],
    ],
    [
      option({ bootFile: 'é' }),
      ['options.bootFile: "é" is not a file name that a boot loader can read; write 1 to 127 printable ASCII characters'],
    ],
    [
      option({
        bootByArchitecture: [
          { architecture: 7, bootFile: 'a' },
          { architecture: 7, bootFile: 'ü', nextServer: 'x' },
          { architecture: 65_536 },
        ],
      }),
      [
        'options.bootByArchitecture[1].architecture: 7 has boot settings already; keep one of the two',
        'options.bootByArchitecture[1].nextServer: "x" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
        'options.bootByArchitecture[1].bootFile: "ü" is not a file name that a boot loader can read; write 1 to 127 printable ASCII characters',
        'options.bootByArchitecture[2].architecture: 65536 is out of bounds; write a whole number from 0 to 65535',
      ],
    ],
    [
      option({ dnsServers: ['10.0.0.53', 'x'], ntpServers: ['y'] }),
      [
        'options.dnsServers[1]: "x" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
        'options.ntpServers[0]: "y" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
      ],
    ],
    [
      option({
        byCode: [
          { code: 44, value: '10.0.0.5, x' },
          { code: 43, value: 'text' },
          { code: 252, value: 'x'.repeat(256) },
          { code: 6, value: '10.0.0.53' },
          { code: 45, value: '10.0.0.5' },
          { code: 45, value: '10.0.0.6' },
          { code: 255, value: 'x' },
        ],
      }),
      [
        'options.byCode[0].value: "10.0.0.5, x" is not a value of option 44; write IPv4 addresses, as in 192.168.48.5, 192.168.48.6, or octets in hexadecimal digits, as in 0x0104c0a83001',
        'options.byCode[1].value: "text" is not a value of option 43; write octets in hexadecimal digits, as in 0x0104c0a83001',
        expect.stringMatching(/^options.byCode\[2\].value: "x+" is too long; write at most 255 octets$/),
        'options.byCode[3].code: 6 (domainNameServers) is set by the server, by clients or by another field of the pool; remove it here',
        'options.byCode[5].code: 45 has a value already; keep one of the two',
        'options.byCode[6].code: 255 is out of bounds; write a whole number from 1 to 254',
      ],
    ],
    [option({ dnsServers: addresses(64) }), ['options.dnsServers: 64 addresses are too many; list at most 63']],
  ])('%j', (definition, problems) => expect(problemsOf(definition)).toEqual(problems));

  it.each<Partial<PoolDefinition>>([
    { relays: addresses(32) },
    option({ dnsServers: addresses(63) }),
    option({ mtu: 68 }),
    option({ mtu: 65_535 }),
    option({ ipv6OnlyWaitSeconds: 300 }),
    option({ ipv6OnlyWaitSeconds: 4_294_967_295 }),
    option({ bootFile: 'x'.repeat(127) }),
    option({ bootFile: '!~' }),
    option({
      byCode: [
        { code: 252, value: 'x'.repeat(255) },
        { code: 254, value: `0x${'00'.repeat(255)}` },
      ],
    }),
  ])('what is at the limit is accepted: %j', (definition) => expect(problemsOf(definition)).toEqual([]));

  it('what is absent is absent in the pool, and what is given is there', () => {
    const poolOf = (definition: Partial<PoolDefinition>) => {
      const checked = validatePool({ ...BASE, ...definition });
      if (!checked.ok) throw new Error(checked.problems.map(describeProblem).join());
      return checked.value;
    };
    expect(Object.keys(poolOf({}).options).toSorted()).toEqual([
      'bootByArchitecture',
      'byCode',
      'dnsServers',
      'domainSearch',
      'ntpServers',
      'staticRoutes',
    ]);
    const full = poolOf({
      reservations: [
        { macAddress: '02:00:00:00:00:0A', address: '10.0.0.9', hostname: 'printer' },
        { macAddress: '02:00:00:00:00:0b', address: '10.0.0.8' },
      ],
      options: {
        router: '10.0.0.254',
        domainName: 'example.org',
        mtu: 1400,
        bootFile: 'a',
        nextServer: '10.0.0.7',
        bootByArchitecture: [{ architecture: 7, bootFile: 'b' }, { architecture: 9 }],
      },
    });
    expect(full.options).toMatchObject({
      router: 0x0a0000fe,
      domainName: 'example.org',
      mtu: 1400,
      bootFile: 'a',
      nextServer: 0x0a000007,
    });
    expect([...full.options.bootByArchitecture]).toEqual([
      [7, { bootFile: 'b' }],
      [9, {}],
    ]);
    expect([...full.reservations.values()].map(({ macAddress, hostname }) => [macAddress, hostname])).toEqual([
      ['02:00:00:00:00:0a', 'printer'],
      ['02:00:00:00:00:0b', undefined],
    ]);
    expect(Object.keys(full.reservations.get('02:00:00:00:00:0b') ?? {})).not.toContain('hostname');
  });
});
