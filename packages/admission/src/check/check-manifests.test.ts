import { parseIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { describeFinding } from './check-finding.js';
import { checkManifests } from './check-manifests.js';

const cluster = { serviceCidrs: [parseIpv4Cidr('10.53.0.0/16') as never], podCidrs: [], apiServers: [] };

/** Each file by its name. */
function findings(files: Readonly<Record<string, string>>): string[] {
  const texts = Object.entries(files).map(([name, text]) => ({ name, text }));
  return checkManifests(texts, { namespace: 'default', clusterNetworks: cluster }).findings.map(describeFinding);
}

const NETWORK = `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net-48}
`;
const POOL = `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata:
  name: net-48
spec:
  networkName: default/net-48
  ipv4Config:
    cidr: 192.168.48.0/24
    router: 192.168.48.1
`;
const CONFIG = `apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata: {name: vm-a}
spec:
  vmName: vm-a
  networkConfigs:
    - networkName: default/net-48
      macAddress: 02:00:00:00:00:0a
      ipAddress: 192.168.48.30
`;
const MACHINE = `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: vm-b
  annotations:
    static-ip.harvesterhci.io/nic: 192.168.48.40
spec:
  template:
    spec:
      domain: {devices: {interfaces: [{name: nic, macAddress: "02:00:00:00:00:0b"}]}}
      networks: [{name: nic, multus: {networkName: net-48}}]
`;

describe('annotations', () => {
  it('that are not text are problems, and hide nothing else in the files', () => {
    const machine = MACHINE.replace('192.168.48.40', '5').replace(
      'spec:',
      '    network.harvesterhci.io/dhcp-opt-out: true\nspec:',
    );
    const texts = findings({ 'a.yaml': machine, 'b.yaml': `${NETWORK}---\n${POOL.replace('192.168.48.1', 'x')}` });
    expect(texts).toEqual([
      expect.stringContaining('metadata.annotations.static-ip.harvesterhci.io/nic: 5 is a number, not text'),
      expect.stringContaining('metadata.annotations.network.harvesterhci.io/dhcp-opt-out: true is'),
      expect.stringContaining('spec.ipv4Config.router: "x" is not an IPv4 address'),
    ]);
  });
});

describe('files without problems', () => {
  it.each<[what: string, files: Readonly<Record<string, string>>]>([
    ['a pool with only a CIDR and a router, and its network', { 'a.yaml': `${NETWORK}---\n${POOL}` }],
    ['over several files, in any order', { 'a.yaml': MACHINE, 'b.yaml': CONFIG, 'c.yaml': POOL, 'd.yaml': NETWORK }],
    ['objects of other kinds', { 'a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n' }],
    ['a kind of the same name of another group', { 'a.yaml': 'apiVersion: ipam.example.org/v1\nkind: VirtualMachine\n' }],
    ['nothing', { 'a.yaml': '' }],
    [
      'metadata whose fields are empty, as templates write them',
      {
        'a.yaml': `${NETWORK.replace('}', ', annotations: , labels: }')}---\n${POOL.replace('spec:', '  annotations:\n  labels:\nspec:')}`,
        'b.yaml': MACHINE.replace(/: 192\.168\.48\.40/, ': "192.168.48.40"').replace('spec:', '  labels:\nspec:'),
      },
    ],
  ])('%s', (_what, files) => expect(findings(files)).toEqual([]));

  it('are counted', () => {
    const files = [
      { name: 'a', text: `${NETWORK}---\n${POOL}---\n${CONFIG}---\n${MACHINE}---\nkind: Service\napiVersion: v1\n` },
    ];
    const { checked, ignored } = checkManifests(files, { namespace: 'default', clusterNetworks: cluster });
    expect(checked).toEqual({
      IPPool: 1,
      VirtualMachineNetworkConfig: 1,
      NetworkAttachmentDefinition: 1,
      VirtualMachine: 1,
      WolConfig: 0,
      ClusterAgent: 0,
      HostEndpoint: 0,
      HostOperation: 0,
    });
    expect(ignored).toBe(1);
  });
});

describe('pools on two networks', () => {
  const bridged = (name: string, vlan: number) =>
    `${NETWORK.replace('net-48', name)}spec: {config: '{"type": "bridge", "bridge": "br0", "vlan": ${vlan}}'}\n`;
  const pools = (...networks: string[]) => [...networks, POOL, POOL.replaceAll('net-48', 'net-49')].join('---\n');

  it('with the same range are a warning beside each if the networks may be one segment', () => {
    expect(findings({ 'a.yaml': pools(NETWORK, NETWORK.replace('net-48', 'net-49')) })).toEqual([
      expect.stringMatching(/^warning: .* IPPool default\/net-48: spec\.ipv4Config\.pool: IPPool default\/net-49 could lease /),
      expect.stringMatching(/^warning: .* IPPool default\/net-49: spec\.ipv4Config\.pool: IPPool default\/net-48 could lease /),
    ]);
  });

  it('with the same range are valid on two VLANs of one bridge', () => {
    expect(findings({ 'a.yaml': pools(bridged('net-48', 48), bridged('net-49', 49)) })).toEqual([]);
  });
});

const ADDRESS = 'write four numbers of 0 to 255, as in 192.168.48.10';

describe('each problem has file, line, column, object, field, message and remedy', () => {
  it.each<[what: string, pool: string, expected: string[]]>([
    [
      'a field whose name is misspelled',
      POOL.replace('networkName:', 'networkname:'),
      [
        'problem: p.yaml:6:3: IPPool default/net-48: spec.networkName: is missing; write text',
        'problem: p.yaml:6:16: IPPool default/net-48: spec.networkname: is not a known field; did you mean networkName?',
      ],
    ],
    [
      'a value of another type',
      POOL.replace('    router', '    dns: 1.1.1.1\n    router'),
      [
        'problem: p.yaml:9:10: IPPool default/net-48: spec.ipv4Config.dns: "1.1.1.1" is text, not a list; write a list, each entry on a line that begins with "- "',
      ],
    ],
    [
      'an address that is none, which is not replaced by a default',
      `${POOL}    serverIP: 192.168.48.1000\n`,
      [
        `problem: p.yaml:10:15: IPPool default/net-48: spec.ipv4Config.serverIP: "192.168.48.1000" is not an IPv4 address; ${ADDRESS}`,
      ],
    ],
    [
      'several',
      POOL.replace(
        '192.168.48.1\n',
        '192.168.49.1\n    mtu: 5\n    serverIP: 192.168.48.2\n    pool: {start: 192.168.48.90, end: 192.168.48.80}\n',
      ),
      [
        'problem: p.yaml:9:13: IPPool default/net-48: spec.ipv4Config.router: 192.168.49.1 is outside 192.168.48.0/24; choose an address inside the subnet or correct the cidr',
        'problem: p.yaml:10:10: IPPool default/net-48: spec.ipv4Config.mtu: 5 is too small; write at least 68',
        'problem: p.yaml:12:39: IPPool default/net-48: spec.ipv4Config.pool.end: the range ends at 192.168.48.80, before its start 192.168.48.90; swap start and end',
      ],
    ],
    [
      'a network of Services',
      POOL.replaceAll('192.168.48', '10.53.0'),
      [
        'problem: p.yaml:8:11: IPPool default/net-48: spec.ipv4Config.cidr: 10.53.0.0/24 overlaps 10.53.0.0/16, the network of the Services of the cluster; choose another cidr: virtual machines could not reach the cluster, and nodes not the virtual machines',
      ],
    ],
    [
      'a kind that is misspelled',
      POOL.replace('kind: IPPool', 'kind: IPpools'),
      [
        'problem: p.yaml:2:7: IPpools default/net-48: kind: network.harvesterhci.io/v1alpha1 has no kind "IPpools"; did you mean IPPool?',
      ],
    ],
    [
      'no kind',
      POOL.replace('kind: IPPool\n', ''),
      [
        'problem: p.yaml:1:1: object default/net-48: kind: is missing; write one of IPPool, VirtualMachineNetworkConfig, NetworkAttachmentDefinition, VirtualMachine',
      ],
    ],
    [
      'another version',
      POOL.replace('v1alpha1', 'v1'),
      [
        'problem: p.yaml:1:13: IPPool default/net-48: apiVersion: "network.harvesterhci.io/v1" is not allowed here; write network.harvesterhci.io/v1alpha1',
      ],
    ],
    [
      'no name',
      POOL.replace('  name: net-48\n', '  labels: {}\n'),
      ['problem: p.yaml:4:3: IPPool default/(no name): metadata.name: is empty; write a value'],
    ],
    ['no YAML', POOL.replace('    cidr', '\tcidr'), ['problem: p.yaml:8:1: file: a tab is used for indentation; use spaces']],
    ['text', 'hello', ['problem: p.yaml:1:1: document: is not an object; write apiVersion, kind, metadata and spec']],
  ])('%s', (_what, pool, expected) => {
    expect(findings({ 'n.yaml': NETWORK, 'p.yaml': pool })).toEqual(expected);
  });

  it('a document that is not YAML hides no other one', () => {
    const found = findings({ 'a.yaml': `a: 1\na: 2\n---\n${POOL.replace('192.168.48.1\n', 'x\n')}`, 'n.yaml': NETWORK });
    expect(found).toHaveLength(2);
  });
});

describe('who answers an interface', () => {
  const bound = (binding: string) => MACHINE.replace('{name: nic, mac', `{name: nic, ${binding}, mac`);
  const on = (config: object) => `${NETWORK}spec: {config: '${JSON.stringify(config)}'}\n`;
  const IPAM = { plugins: [{ type: 'bridge', bridge: 'br1', ipam: { type: 'whereabouts' } }] };
  const SUBNETS = { type: 'ovn-k8s-cni-overlay', topology: 'localnet', subnets: '192.168.48.0/24' };
  const [INTERFACE, NAME] = ['VirtualMachine default/vm-b', 'IPPool default/net-48'];

  it.each<[string, string, object, readonly (readonly string[])[]]>([
    ['bridge', 'bridge: {}', { type: 'bridge', bridge: 'br1' }, []],
    ['an unknown plugin', 'binding: {name: l2}', { type: 'bridge', bridge: 'br1' }, []],
    ['SR-IOV', 'sriov: {}', { type: 'sriov', ipam: { type: 'whereabouts' } }, []],
    [
      'masquerade',
      'masquerade: {}',
      { type: 'bridge', bridge: 'br1' },
      [[INTERFACE, 'the binding masquerade keeps DHCP requests']],
    ],
    [
      'bridge with ipam',
      'bridge: {}',
      IPAM,
      [
        [INTERFACE, 'has ipam of type whereabouts'],
        [NAME, 'has ipam of type whereabouts'],
      ],
    ],
    [
      'OVN-Kubernetes with subnets',
      'bridge: {}',
      SUBNETS,
      [
        [INTERFACE, 'has subnets'],
        [NAME, 'has subnets'],
      ],
    ],
    [
      'kube-ovn',
      'bridge: {}',
      { type: 'kube-ovn' },
      [
        [INTERFACE, 'kube-ovn manages network'],
        [NAME, 'kube-ovn manages network'],
      ],
    ],
  ])('%s', (_, binding, config, expected) => {
    const found = findings({ 'a.yaml': bound(binding), 'b.yaml': on(config), 'c.yaml': POOL });
    expect(found).toHaveLength(expected.length);
    for (const [index, [object = '', message = '']] of expected.entries()) {
      expect(found[index]).toContain('warning');
      expect(found[index]).toContain(object);
      expect(found[index]).toContain(message);
    }
  });
});

describe('objects that clash', () => {
  it('two pools of one network, in two files', () => {
    expect(findings({ 'n.yaml': NETWORK, 'a.yaml': POOL, 'b.yaml': POOL.replace('name: net-48', 'name: other') })).toEqual([
      'problem: b.yaml:6:16: IPPool default/other: spec.networkName: network default/net-48 is served by the older IPPool default/net-48 already; delete one of the two',
    ]);
  });

  it('one object twice', () => {
    const files = { 'a.yaml': `${NETWORK}---\n${POOL}`, 'b.yaml': POOL };
    expect(findings(files)).toEqual([
      'problem: b.yaml:4:9: IPPool default/net-48: metadata.name: is already in a.yaml:8; remove one of the two',
    ]);
  });

  it('two virtual machines that pin one address', () => {
    const found = findings({ 'a.yaml': `${NETWORK}---\n${POOL}---\n${CONFIG}`, 'b.yaml': MACHINE.replace('48.40', '48.30') });
    expect(found).toEqual([
      'problem: a.yaml:23:18: VirtualMachineNetworkConfig default/vm-a: spec.networkConfigs[0].ipAddress: 192.168.48.30 is wanted by default/vm-b (02:00:00:00:00:0b) too; give one of them another address',
      'problem: b.yaml:6:36: VirtualMachine default/vm-b: metadata.annotations.static-ip.harvesterhci.io/nic: 192.168.48.30 is wanted by default/vm-a (02:00:00:00:00:0a) too; give one of them another address',
    ]);
  });

  it('references to objects that the cluster may have are warnings', () => {
    expect(findings({ 'p.yaml': POOL })).toEqual([
      'warning: p.yaml:6:16: IPPool default/net-48: spec.networkName: there is no NetworkAttachmentDefinition default/net-48; create it, or delete the IPPool and create it again with another spec.networkName',
    ]);
    expect(findings({ 'n.yaml': NETWORK, 'c.yaml': CONFIG })[0]).toContain('warning: c.yaml:7:20:');
  });
});
