import { describe, expect, it } from 'vitest';
import { describeFinding } from './finding.js';
import { parsePoolsFile } from './parse-pools-file.js';

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
  const show = (list: Parameters<typeof describeFinding>[1][]) => list.map((finding) => describeFinding('f', finding));
  return { problems: result.ok ? [] : show([...result.problems]), warnings: show([...result.warnings]) };
}

describe('a pools file', () => {
  it('gives pools, and to each pool who wants an address of it', () => {
    const result = parsePoolsFile(POOL + machine('02-00-00-00-00-0A'));
    if (!result.ok) throw new Error('refused');
    const configured = result.file.pools.get('default/net-48');
    expect(configured?.paused).toBe(false);
    expect(configured?.claims).toEqual([{ owner: 'default/vm-a', macAddress: '02:00:00:00:00:0a' }]);
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

  it('names NTP servers that are to be looked up, and leaves them out until they are', () => {
    const text = POOL.replace('    pool:', '    ntp: [192.168.48.1, time.example]\n    pool:');
    const result = parsePoolsFile(text, new Map([['time.example', ['10.0.0.9']]]));
    expect(result.ok && [...result.file.ntpNames]).toEqual(['time.example']);
    expect(result.ok && result.file.pools.get('default/net-48')?.pool.options.ntpServers).toHaveLength(2);
  });

  it.each<[what: string, text: string, problems: (string | RegExp)[]]>([
    ['an empty file', '', ['f:1:1: file: holds no IPPool; add one']],
    ['no YAML', `${POOL}  broken: [`, [/^f:1[34]:\d+: file: .*; correct the YAML$/]],
    ['an object of another kind', `${POOL}---\nkind: Pod\n`, [/^f:14:7: Pod .*: kind: must be one of/]],
    ['a list', `${POOL}---\n- a\n`, [/^f:14:1: document: is no object/]],
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
      [/metadata\.name: stands in the file twice/, /network default\/net-48 has the pool default\/net-48 already/],
    ],
    [
      'a MAC address that is none',
      POOL + machine('02:00'),
      [/^f:21:19: VirtualMachineNetworkConfig default\/vm-a: spec\.networkConfigs\[0\]\.macAddress: '02:00' is no MAC address/],
    ],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      [/is no object/],
    ],
  ])('with %s is refused', (_, text, problems) => {
    const found = findings(text).problems;
    expect(found).toHaveLength(problems.length);
    problems.forEach((problem, index) => void expect(found[index]).toMatch(problem));
  });

  it.each([
    [
      'an unknown field',
      POOL.replace('    pool:', '    leasTime: 5\n    pool:'),
      'f:10:15: IPPool default/net-48: spec.ipv4Config.leasTime: is no known field; correct its name or remove it',
    ],
    [
      'a network without a pool',
      POOL + machine('02:00:00:00:00:0a', 'default/nowhere'),
      'f:20:20: VirtualMachineNetworkConfig default/vm-a: spec.networkConfigs[0].networkName: no pool serves network default/nowhere; correct its name or add an IPPool',
    ],
  ])('with %s is served, with a warning', (_, text, warning) => {
    expect(findings(text)).toEqual({ problems: [], warnings: [warning] });
  });
});
