import { describe, expect, it } from 'vitest';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { agentObject, endpointObject } from '../inventory/inventory-fixtures.js';
import { describeHostProblem } from '../object/problem.js';
import { clusterAgentProblems } from './cluster-agent-problems.js';
import { clusterAgentOf, hostEndpointProblems } from './host-endpoint-problems.js';
import { clusterAgentSecretProblems, hostEndpointSecretProblems } from './unnamed-secret.js';

const DHCP = 'spec.feature.dhcpServerConfig';
const found = (dhcp: object) => clusterAgentProblems(agentObject(dhcp)).map(describeHostProblem);

describe('problems of the DHCP settings of a ClusterAgent', () => {
  it.each<[what: string, dhcp: object, problems: string[]]>([
    ['nothing', {}, []],
    ['nothing: selfIp', { selfIp: '10.0.0.2/24' }, []],
    ['nothing: host bits of the subnet', { subnet: '10.0.0.77/24' }, []],
    ['nothing: a /31', { subnet: '10.0.0.0/31', ipRange: '10.0.0.1-10.0.0.1', gateway: '10.0.0.0' }, []],
    [
      '999.999.999.999',
      { gateway: '999.999.999.999' },
      [`${DHCP}.gateway: "999.999.999.999" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.0.1`],
    ],
    ...['management-network', 'eth 0', 'eth/0', 'eth0:1', '.'].map((name): [string, object, string[]] => [
      `the interface ${name}`,
      { dhcpServerInterface: name },
      [
        `${DHCP}.dhcpServerInterface: "${name}" is not a name that an interface of Linux can have; write at most 15 characters, no space, "/" or ":", and no dot first`,
      ],
    ]),
    [
      'a range outside of the subnet',
      { ipRange: '10.0.1.10-10.0.1.99' },
      [
        `${DHCP}.ipRange: has addresses that no host in 10.0.0.0/24 can have; write addresses of the subnet, without its first and last one`,
      ],
    ],
    [
      'a range with the network address',
      { ipRange: '10.0.0.0-10.0.0.9', gateway: '10.0.0.10' },
      [
        `${DHCP}.ipRange: has addresses that no host in 10.0.0.0/24 can have; write addresses of the subnet, without its first and last one`,
      ],
    ],
    [
      'a reversed range',
      { ipRange: '10.0.0.99-10.0.0.10' },
      [`${DHCP}.ipRange: 10.0.0.99-10.0.0.10 ends before its start; swap the two addresses`],
    ],
    [
      'one address for a range',
      { ipRange: '10.0.0.10' },
      [
        `${DHCP}.ipRange: "10.0.0.10" is not a range of IPv4 addresses; write two addresses, the lower one first, as in 192.168.0.10-192.168.0.100`,
      ],
    ],
    [
      'a gateway in the range',
      { gateway: '10.0.0.50' },
      [`${DHCP}.gateway: is in ipRange, so a client could get the address of the gateway; shorten the range`],
    ],
    [
      'a gateway outside of the subnet',
      { gateway: '10.9.0.1' },
      [
        `${DHCP}.gateway: is not the address of a host in 10.0.0.0/24; write an address between the first and the last one of the subnet`,
      ],
    ],
    [
      'a selfIp with another prefix',
      { selfIp: '10.0.0.2/16' },
      [`${DHCP}.selfIp: 10.0.0.2/16 has another prefix length than 10.0.0.0/24; write 10.0.0.2/24`],
    ],
    [
      'a selfIp in the range',
      { selfIp: '10.0.0.10/24' },
      [`${DHCP}.selfIp: is in ipRange, so a client could get the address of the DHCP server; shorten the range`],
    ],
    [
      'a selfIp without a prefix',
      { selfIp: '10.0.0.2' },
      [`${DHCP}.selfIp: "10.0.0.2" is not an IPv4 address with a prefix length; write it as in 192.168.0.2/24`],
    ],
    [
      'a selfIp that is the gateway',
      { selfIp: '10.0.0.1/24' },
      [`${DHCP}.selfIp: 10.0.0.1 is the gateway; give the DHCP server an address of its own`],
    ],
    [
      'everything at once',
      { dhcpServerInterface: '', subnet: '', ipRange: undefined, gateway: 7, selfIp: 'x' },
      [
        `${DHCP}.dhcpServerInterface: is missing; write the name of a network interface`,
        `${DHCP}.subnet: is missing; write address/prefix length, as in 192.168.0.0/24`,
        `${DHCP}.ipRange: is missing; write two addresses, the lower one first, as in 192.168.0.10-192.168.0.100`,
        `${DHCP}.gateway: is missing; write four numbers of 0 to 255, as in 192.168.0.1`,
        `${DHCP}.selfIp: "x" is not an IPv4 address with a prefix length; write it as in 192.168.0.2/24`,
      ],
    ],
    [
      'a small subnet, and all that does not fit it',
      { subnet: '10.0.0.0/30', selfIp: '10.0.0.9/24' },
      [
        `${DHCP}.ipRange: has addresses that no host in 10.0.0.0/30 can have; write addresses of the subnet, without its first and last one`,
        `${DHCP}.selfIp: 10.0.0.9/24 has another prefix length than 10.0.0.0/30; write 10.0.0.9/30`,
        `${DHCP}.selfIp: is not the address of a host in 10.0.0.0/30; write an address between the first and the last one of the subnet`,
      ],
    ],
  ])('%s', (_, dhcp, problems) => expect(found(dhcp)).toEqual(problems));
});

describe('the network of the agents', () => {
  const pathsOf = (agentYaml: object) =>
    clusterAgentProblems({ metadata: { name: 'rack' }, spec: { agentYaml, feature: { enableDhcpServer: false } } }).map(
      ({ path, reason }) => `${path.join('.')} ${reason}`,
    );

  it.each([
    'net',
    'kube-system/management',
    'kube-system/management@net1',
    'net.1',
    'kube-system/a, b@net2',
    '[{"name":"management","namespace":"kube-system","interface":"net1"}]',
  ])('may be %j, which Multus accepts', (underlayInterface) => expect(pathsOf({ underlayInterface })).toEqual([]));

  it.each(['kube-system/', '/management', 'a/b/c', 'net 1', 'Management', 'a,,b', 'a@b@c', 'a@', '[{]', '-a'])(
    'may not be %j',
    (underlayInterface) => expect(pathsOf({ underlayInterface })).toEqual(['spec.agentYaml.underlayInterface not-a-name']),
  );

  it('is not checked for agents on the network of the node', () => {
    expect(pathsOf({ underlayInterface: 'eth0 of the node', hostNetwork: true })).toEqual([]);
  });
});

describe('other problems of a ClusterAgent', () => {
  it.each<[what: string, object: unknown, paths: string[]]>([
    ['no DHCP settings', { spec: { agentYaml: { underlayInterface: 'net' } } }, [DHCP]],
    [
      'no DHCP settings, with DHCP off',
      { spec: { agentYaml: { underlayInterface: 'net' }, feature: { enableDhcpServer: false } } },
      [],
    ],
    ['no specification', {}, ['spec.agentYaml.underlayInterface', DHCP]],
    [
      'a name with dots, half a Secret, a port and a number of agents out of bounds',
      {
        name: 'a.b',
        spec: {
          agentYaml: { underlayInterface: 'net', replicas: -1 },
          endpoint: { port: 0, secretNamespace: 'b' },
          feature: { enableDhcpServer: false },
        },
      },
      ['metadata.name', 'spec.endpoint.port', 'spec.agentYaml.replicas', 'spec.endpoint.secretName'],
    ],
    [
      'networks of hosts that are none',
      {
        spec: {
          agentYaml: { underlayInterface: 'net' },
          endpoint: { networks: ['10.1.0.0/16', '10.1.0.0', '10.1.0.0/33', '2001:db8::/64', '2001:db8::/129', 7] },
          feature: { enableDhcpServer: false },
        },
      },
      Array.from({ length: 4 }, () => 'spec.endpoint.networks'),
    ],
  ])('%s', (_, object, paths) => {
    const { name = 'agent', spec } = object as { name?: string; spec?: unknown };
    expect(clusterAgentProblems({ metadata: { name }, spec }).map(({ path }) => path.join('.'))).toEqual(paths);
  });
});

describe('a HostEndpoint', () => {
  it.each<[spec: object, reasons: string[]]>([
    [{}, []],
    [{ ipAddr: '2001:DB8::1' }, []],
    [{ ipAddr: '10.0.0.256' }, ['not-an-address']],
    [{ ipAddr: 'fe80::' }, ['not-an-address']],
    ...[':', '1::2::3', '1:2:3:4:5:6:7:8::', 'g::1', '1:2'].map((ipAddr): [object, string[]] => [{ ipAddr }, ['not-an-address']]),
    ...[
      ...['127.0.0.1', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255', '0::1', '0:0:0:0:0:0:0:0'],
      ...['fe80::1', 'febf::1', 'ff02::1', '::ffff:7f00:1', '::ffff:10.0.0.7', '::10.0.0.7'],
    ].map((ipAddr): [object, string[]] => [{ ipAddr }, ['not-a-host-address']]),
    [{ ipAddr: undefined, port: 70_000, secretName: 'a' }, ['missing', 'out-of-bounds', 'half-a-secret']],
  ])('%j: %j', (spec, reasons) => {
    expect(hostEndpointProblems(endpointObject('e', '10.0.0.7', spec)).map(({ reason }) => reason)).toEqual(reasons);
  });

  it.each<[address: string, dhcp: object, problem: string | undefined]>([
    ['10.0.0.2', { selfIp: '10.0.0.2/24' }, 'selfIp'],
    ['10.0.0.1', { gateway: '10.0.0.1' }, 'the gateway'],
    ['10.0.0.0', {}, 'the network address'],
    ['10.0.0.255', {}, 'the broadcast address'],
    ['10.0.0.7', { selfIp: '10.0.0.2/24' }, undefined],
    ['192.168.7.255', {}, undefined],
    ['2001:db8::1', {}, undefined],
    ['10.0.0.1', { subnet: '10.0.0.0/31', ipRange: '10.0.0.1-10.0.0.1', gateway: '10.0.0.0' }, undefined],
  ])('has the problem of %s, if the ClusterAgent has %j: %s', (address, dhcp, problem) => {
    const endpoint = endpointObject('e', address, { port: 0 });
    const problems = hostEndpointProblems(endpoint, readClusterAgent(agentObject(dhcp))).map(describeHostProblem);
    const port = 'spec.port: 0 is not a TCP port; write 1 to 65535';
    const taken = `spec.ipAddr: ${address} is ${problem} of ClusterAgent agent, and no host can have it; write the address of the management controller`;
    expect(problems).toEqual(problem === undefined ? [port] : [taken, port]);
    const off = { ...readClusterAgent(agentObject(dhcp)), enableDhcpServer: false };
    expect(hostEndpointProblems(endpoint, off).map(describeHostProblem)).toEqual([port]);
  });

  it.each<[address: string, networks: string[], isInside: boolean]>([
    ['10.0.0.7', [], true],
    ['10.0.1.7', [], false],
    ['10.0.1.7', ['10.0.1.0/24'], true],
    ['10.0.1.7', ['10.0.1.6/31', 'odd', '10.0.1.0/33', '/8'], true],
    ['10.0.1.7', ['10.0.1.4/31'], false],
    ['2001:db8::1', ['0.0.0.0/0'], false],
    ['2001:db8::1', ['2001:db8:0:0:0::/65'], true],
    ['2001:db8:0:0:8000::1', ['2001:db8:0:0:0::/65'], false],
    ['2001:db8::1', ['::/0'], true],
    ['2001:db8::10.0.0.1', ['2001:db8::a00:1/128'], true],
  ])('with the address %s is in a network of the ClusterAgent that has 10.0.0.0/24 and %j: %s', (address, networks, isInside) => {
    const agent = readClusterAgent(agentObject({}, { networks }));
    const problems = hostEndpointProblems(endpointObject('e', address), agent);
    expect(problems.map(({ reason }) => reason)).toEqual(isInside ? [] : ['outside-networks']);
  });

  it('outside the networks of its ClusterAgent: the remedy names the field of the ClusterAgent', () => {
    const agent = readClusterAgent(agentObject({}, { networks: ['10.1.0.0/16'] }));
    expect(hostEndpointProblems(endpointObject('e', '192.0.2.7'), agent).map(describeHostProblem)).toEqual([
      'spec.ipAddr: 192.0.2.7 is in no network of ClusterAgent agent (10.0.0.0/24, 10.1.0.0/16); if the host is there, add its network to spec.endpoint.networks of ClusterAgent agent; otherwise delete the HostEndpoint and create it with the right address',
    ]);
  });

  it.each<[written: string | undefined, names: string[], agent: string | undefined]>([
    ['a', ['a', 'b'], 'a'],
    ['c', ['a', 'b'], undefined],
    ['', ['a'], 'a'],
    [undefined, ['a'], 'a'],
    [undefined, ['a', 'b'], undefined],
    [undefined, [], undefined],
  ])('that names ClusterAgent %s, among %j, belongs to %s', (clusterAgent, names, agent) => {
    expect(clusterAgentOf(endpointObject('e', '10.0.0.7', { clusterAgent }), names)).toBe(agent);
  });
});

describe('a Secret that is not named', () => {
  const none = { secretName: undefined, secretNamespace: undefined };
  const OF_AGENT =
    'spec.endpoint.secretName: is missing, so learned hosts are polled over HTTPS without a password; write secretName and secretNamespace of a Secret with username and password, or enableDhcpDiscovery: false if no host should be polled';
  const OF_ENDPOINT =
    'spec.secretName: is missing, and ClusterAgent agent names no Secret either, so the host is polled over HTTPS without a password; write secretName and secretNamespace of a Secret with username and password into spec.endpoint of ClusterAgent agent, or delete the HostEndpoint and create it with them';

  it.each<[endpoint: object, dhcp: object, problems: string[]]>([
    [{}, {}, []],
    [none, {}, [OF_AGENT]],
    [{ ...none, https: undefined }, {}, [OF_AGENT]],
    [{ ...none, https: false }, {}, []],
    [none, { enableDhcpDiscovery: false }, []],
    [{ secretName: undefined }, {}, []],
  ])('by a ClusterAgent with %j and %j: %j', (endpoint, dhcp, problems) => {
    expect(clusterAgentSecretProblems(agentObject(dhcp, endpoint)).map(describeHostProblem)).toEqual(problems);
  });

  it('by a ClusterAgent without spec.endpoint, or with DHCP switched off', () => {
    const spec = { agentYaml: { underlayInterface: 'net' } };
    const of = (feature: object) => clusterAgentSecretProblems({ metadata: { name: 'agent' }, spec: { ...spec, ...feature } });
    expect(of({}).map(describeHostProblem)).toEqual([OF_AGENT]);
    expect(of({ feature: { enableDhcpServer: false } })).toEqual([]);
  });

  it.each<[own: object, ofAgent: object, problems: string[]]>([
    [{}, {}, []],
    [{}, none, [OF_ENDPOINT]],
    [{ https: undefined }, { ...none, https: false }, [OF_ENDPOINT]],
    [{ https: false }, none, []],
    [{ secretName: 'own', secretNamespace: 'default' }, none, []],
    [{ secretName: 'own' }, none, []],
  ])('by a HostEndpoint with %j, whose ClusterAgent has %j: %j', (own, ofAgent, problems) => {
    const agent = readClusterAgent(agentObject({}, ofAgent));
    expect(hostEndpointSecretProblems(endpointObject('e', '10.0.0.7', own), agent).map(describeHostProblem)).toEqual(problems);
  });
});
