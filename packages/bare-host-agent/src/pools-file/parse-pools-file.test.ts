import { describe, expect, it } from 'vitest';
import { parsePoolsFile } from './parse-pools-file.js';
import { describePoolsFileFinding } from './pools-file-finding.js';

const POOL = `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata:
  name: net-48
spec:
  networkName: default/net-48
  ipv4Config:
    cidr: 192.168.48.0/24
    serverIP: 192.168.48.2
    pool:
      start: 192.168.48.10
      end: 192.168.48.99
`;
const machine = (mac: string, networkName = 'default/net-48') => `---
apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata: { name: vm-a, namespace: default }
spec:
  vmName: vm-a
  networkConfigs:
    - networkName: ${networkName}
      macAddress: "${mac}"
`;

function findings(text: string): { problems: string[]; warnings: string[] } {
  const result = parsePoolsFile(text);
  const show = (list: Parameters<typeof describePoolsFileFinding>[1][]) =>
    list.map((finding) => describePoolsFileFinding('f', finding));
  return { problems: result.ok ? [] : show([...result.problems]), warnings: show([...result.warnings]) };
}

describe('a pools file', () => {
  it('yields pools, and for each pool the claims on its addresses', () => {
    const result = parsePoolsFile(POOL + machine('02-00-00-00-00-0A'));
    if (!result.ok) throw new Error('refused');
    const configured = result.file.pools.get('default/net-48');
    expect(configured?.paused).toBe(false);
    expect(configured?.claims).toEqual([
      { owner: 'default/vm-a', macAddress: '02:00:00:00:00:0a', index: 0, line: 20, column: 7 },
    ]);
  });

  it('finds the pool by the labels of a NetworkAttachmentDefinition, before its networkName', () => {
    const definition = `---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: other
  labels: { network.harvesterhci.io/ippool-namespace: default, network.harvesterhci.io/ippool-name: net-48 }
`;
    const result = parsePoolsFile(POOL + definition + machine('02:00:00:00:00:0a', 'other'));
    expect(result.ok && result.file.pools.get('default/net-48')?.claims).toHaveLength(1);
  });

  it('returns the log settings of a pool, and reports an annotation for them that cannot be read', () => {
    const annotated = (text: string) => POOL.replace('  name: net-48\n', `  name: net-48\n  annotations: ${text}\n`);
    const result = parsePoolsFile(annotated('{ network.harvesterhci.io/log-packets: "true" }'));
    expect(result.ok && result.file.pools.get('default/net-48')?.log).toEqual({ packets: true });
    expect(findings(annotated('{ network.harvesterhci.io/log-level: loud }')).problems).toEqual([
      'f:5:53: IPPool default/net-48: metadata.annotations.network.harvesterhci.io/log-level: annotation network.harvesterhci.io/log-level is "loud"; write one of trace, debug, info, warn, error, silent',
    ]);
  });

  it('lists NTP servers that have to be looked up, and omits them until they are', () => {
    const text = POOL.replace('    pool:', '    ntp: [192.168.48.1, time.example]\n    pool:');
    const result = parsePoolsFile(text, new Map([['time.example', ['10.0.0.9']]]));
    expect(result.ok && [...result.file.ntpNames]).toEqual(['time.example']);
    expect(result.ok && result.file.pools.get('default/net-48')?.pool.options.ntpServers).toHaveLength(2);
  });

  it.each<[what: string, text: string, problems: (string | RegExp)[]]>([
    ['an empty file', '', ['f:1:1: file: holds no IPPool; add one']],
    [
      'no YAML',
      `${POOL}  broken: [`,
      [/^f:1[34]:\d+: file: the indentation fits no line above; indent the fields of one group by the same number of spaces$/],
    ],
    [
      'an object of another kind',
      `${POOL}---\nkind: Pod\n`,
      [/^f:14:7: Pod .*: kind: "Pod" is not a kind that is read here; write one of/],
    ],
    ['a list', `${POOL}---\n- a\n`, [/^f:14:1: document: is not an object/]],
    [
      'a field of the wrong type',
      POOL.replace('192.168.48.0/24', '48'),
      [/^f:8:11: IPPool default\/net-48: spec\.ipv4Config\.cidr: /],
    ],
    [
      'a rule between fields',
      POOL.replace('end: 192.168.48.99', 'end: 192.168.48.5'),
      [
        'f:12:12: IPPool default/net-48: spec.ipv4Config.pool.end: the range ends at 192.168.48.5, before its start 192.168.48.10; swap start and end',
      ],
    ],
    [
      'a pool twice',
      `${POOL}---\n${POOL}`,
      [/metadata\.name: is in the file twice/, /network default\/net-48 has the pool default\/net-48 already/],
    ],
    [
      'a MAC address that is none',
      POOL + machine('02:00'),
      [
        /^f:21:19: VirtualMachineNetworkConfig default\/vm-a: spec\.networkConfigs\[0\]\.macAddress: "02:00" is not a MAC address/,
      ],
    ],
    [
      'misspelled fields, beside others that are wrong',
      POOL.replace('networkName', 'networkname').replace('    pool:', '    leasTime: 5\n    pool:'),
      [
        'f:6:3: IPPool default/net-48: spec.networkName: is missing; write text',
        'f:6:16: IPPool default/net-48: spec.networkname: is not a known field; did you mean networkName?',
        'f:10:15: IPPool default/net-48: spec.ipv4Config.leasTime: is not a known field; did you mean leaseTime?',
      ],
    ],
    [
      'a lease time below 1',
      POOL.replace('    pool:', '    leaseTime: -5\n    pool:'),
      [
        'f:10:16: IPPool default/net-48: spec.ipv4Config.leaseTime: -5 is not a number of seconds that a lease can last; write 1 to 4294967294, 4294967295 for leases without end, or leave it out for one year',
      ],
    ],
    ['a lease time of 0', POOL.replace('    pool:', '    leaseTime: 0\n    pool:'), [/leaseTime: 0 is not a number of seconds/]],
    [
      'a route with host bits through a router outside the subnet, and an NTP server that is none',
      POOL.replace(
        '    pool:',
        '    staticRoutes:\n      - { destination: 10.0.0.1/8, gateway: 192.168.49.1 }\n    ntp: ["not a host!"]\n    pool:',
      ),
      [
        'f:11:24: IPPool default/net-48: spec.ipv4Config.staticRoutes[0].destination: "10.0.0.1/8" is a host address with a prefix length, not a subnet; write 10.0.0.0/8, or the address with /32 for one host',
        /^f:11:45: .*staticRoutes\[0\]\.gateway: 192\.168\.49\.1 is outside 192\.168\.48\.0\/24; /,
        'f:12:11: IPPool default/net-48: spec.ipv4Config.ntp[0]: "not a host!" is neither an IPv4 address nor a host name; write an address, as in 192.168.48.1, or a name, as in time.example.org',
      ],
    ],
    [
      'a subnet that is none: the fields whose default it gives are not asked for',
      POOL.replace(/cidr: .*/, 'cidr: 48').replace(/ {4}serverIP[\s\S]*/, '    domainName: not a name\n'),
      [
        'f:8:11: IPPool default/net-48: spec.ipv4Config.cidr: 48 is a number, not text; put it in quotes, as in "48"',
        /^f:9:17: .*domainName: "not a name" is not a domain name; /,
      ],
    ],
    [
      'a subnet too small for defaults',
      POOL.replace(/cidr: .*/, 'cidr: 192.168.48.0/31').replace(/ {4}serverIP[\s\S]*/, '    domainName: lab.example\n'),
      [/serverIP: is missing; write text/, /pool: is missing; write its fields below it, indented/],
    ],
    [
      'everything excluded: the server address that is left out',
      POOL.replace(/ {4}serverIP[\s\S]*/, '    pool:\n      exclude: [192.168.48.0-192.168.48.255]\n'),
      [/serverIP: no address of 192\.168\.48\.0\/24 is left for the DHCP server; /],
    ],
    [
      'wrong types in one object, wrong rules in it and in others: all of them, by line',
      `${POOL.replace('end: 192.168.48.99', 'end: 192.168.47.99').replace('    pool:', '    mtu: large\n    dns: 1.1.1.1\n    pool:')}${machine('02:00')}---\n${POOL.replaceAll('net-48', 'net-49').replace('serverIP: 192.168.48.2', 'serverIP: 192.168.48.0')}`,
      [
        'f:10:10: IPPool default/net-48: spec.ipv4Config.mtu: "large" is text, not a number; write a number, without quotes',
        'f:11:10: IPPool default/net-48: spec.ipv4Config.dns: "1.1.1.1" is text, not a list; write a list, each entry on a line that begins with "- "',
        /^f:14:12: IPPool default\/net-48: spec\.ipv4Config\.pool\.end: 192\.168\.47\.99 is outside 192\.168\.48\.0\/24; /,
        /^f:23:19: VirtualMachineNetworkConfig default\/vm-a: spec\.networkConfigs\[0\]\.macAddress: "02:00" is not a MAC address/,
        /^f:33:15: IPPool default\/net-49: spec\.ipv4Config\.serverIP: 192\.168\.48\.0 is the network address of 192\.168\.48\.0\/24; /,
      ],
    ],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      [/the aliases of this document repeat too much/],
    ],
  ])('with %s is refused', (_, text, problems) => {
    const found = findings(text).problems;
    expect(found).toHaveLength(problems.length);
    problems.forEach((problem, index) => void expect(found[index]).toMatch(problem));
  });

  it.each([
    [
      'an unknown field',
      POOL.replace('    pool:', '    colour: blue\n    pool:'),
      'f:10:13: IPPool default/net-48: spec.ipv4Config.colour: is not a known field; correct its name or remove it',
    ],
    [
      'a network without a pool',
      POOL + machine('02:00:00:00:00:0a', 'default/nowhere'),
      'f:20:20: VirtualMachineNetworkConfig default/vm-a: spec.networkConfigs[0].networkName: no pool serves network default/nowhere; correct its name or add an IPPool',
    ],
  ])('with %s is served, with a warning', (_, text, warning) => {
    expect(findings(text)).toEqual({ problems: [], warnings: [warning] });
  });

  describe('with two pools', () => {
    const pool = (name: string, subnet: string, rest = '') => `---
apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: { name: ${name} }
spec:
  networkName: default/${name}
  ipv4Config:
    { cidr: ${subnet}.0/24, serverIP: ${subnet}.2, pool: { start: ${subnet}.10, end: ${subnet}.99 } }
${rest}`;
    const six = (cidr: string) => `  ipv6Config: { cidr: '${cidr}' }\n`;

    it.each([
      ['the same addresses', pool('one', '10.0.1'), pool('two', '10.0.1'), '10.0.1.2, 10.0.1.10-10.0.1.99'],
      [
        'the same IPv6 addresses',
        pool('one', '10.0.1', six('2001:db8:48::/64')),
        pool('two', '10.0.2', six('2001:db8:48::/64')),
        '10.0.2.10-10.0.2.99',
      ],
    ])('that have %s is served, with a warning, as the pools may be on one interface', (_, one, two, addresses) => {
      const warning = `f:16:5: IPPool default/two: spec.ipv4Config: IPPool default/one uses ${addresses} too, or the IPv6 addresses beside them: if one interface has both networks, two hosts could get one address; choose ranges, servers and CIDRs that are apart`;
      const { problems, warnings } = findings(one + two);
      expect(problems).toEqual([]);
      expect(warnings.map((text) => text.replace(/^f:\d+:\d+/, 'f:16:5'))).toEqual([warning]);
    });

    it('whose addresses are apart there is no warning', () => {
      const apart = pool('one', '10.0.1', six('2001:db8:48::/64')) + pool('two', '10.0.2', six('2001:db8:49::/64'));
      expect(findings(apart)).toEqual({ problems: [], warnings: [] });
    });

    it.each([0, 1])('with the same addresses, if one is paused, bring no warning (%i)', (paused) => {
      const same = [0, 1].map((index) => pool(`net-${index}`, '10.0.1', index === paused ? '  paused: true\n' : ''));
      expect(findings(same.join(''))).toEqual({ problems: [], warnings: [] });
    });
  });
});
