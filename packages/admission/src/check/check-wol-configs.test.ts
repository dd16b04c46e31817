import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFinding } from './check-finding.js';
import { checkManifests } from './check-manifests.js';

const EXAMPLE = new URL('../../../../examples/cluster/wake-on-lan.yaml', import.meta.url);
const clusterNetworks = { serviceCidrs: [], podCidrs: [], apiServers: [] };

function findings(text: string): string[] {
  return checkManifests([{ name: 'w.yaml', text }], { namespace: 'default', clusterNetworks }).findings.map(describeFinding);
}

const config = (spec: string) => `apiVersion: wol.pillon.org/v1beta1
kind: WolConfig
metadata:
  name: office
spec:
${spec}`;

describe('the check of WolConfigs', () => {
  it('the example has no problem, and is counted', () => {
    const files = [{ name: 'wake-on-lan.yaml', text: readFileSync(EXAMPLE, 'utf8') }];
    const { findings: found, checked } = checkManifests(files, { namespace: 'default', clusterNetworks });
    expect(found).toEqual([]);
    expect(checked.WolConfig).toBe(3);
  });

  it.each<[what: string, spec: string, expected: string[]]>([
    [
      'ports',
      '  wolPorts: [9, 70000]\n',
      ['problem: w.yaml:6:17: WolConfig office: spec.wolPorts[1]: invalid WOL port 70000; write a number from 1 to 65535'],
    ],
    [
      'a mode without what it needs',
      '  discoveryMode: Explicit\n',
      [
        'problem: w.yaml:6:3: WolConfig office: spec.explicitMappings: ExplicitMappings is required for discoveryMode Explicit; list the virtual machines',
      ],
    ],
    [
      'every problem of the schema',
      '  discoveryMode: Every\n  wolPorts: nine\n',
      [
        'problem: w.yaml:6:18: WolConfig office: spec.discoveryMode: "Every" is not allowed here; write All or LabelSelector or Explicit',
        'problem: w.yaml:7:13: WolConfig office: spec.wolPorts: "nine" is text, not a list; write a list, each entry on a line that begins with "- "',
      ],
    ],
    [
      'a field whose name is misspelled',
      '  namespaceSelector: [office]\n',
      ['problem: w.yaml:6:22: WolConfig office: spec.namespaceSelector: is not a known field; did you mean namespaceSelectors?'],
    ],
    [
      'an image that is a placeholder',
      '  agent:\n    image: <your-registry>/agent:custom\n',
      [
        'problem: w.yaml:7:12: WolConfig office: spec.agent.image: "<your-registry>/agent:custom" is not an image; write REPOSITORY:TAG, as in registry.example.com/vmdhcp-agent:v1',
      ],
    ],
    [
      'what agents cannot have',
      '  agent:\n    resources:\n      limits: { cpu: two }\n',
      [
        'problem: w.yaml:8:22: WolConfig office: spec.agent.resources.limits.cpu: "two" is not a quantity; write it as in 100m or 64Mi',
      ],
    ],
    [
      'a selector without labels, as a warning',
      '  discoveryMode: LabelSelector\n  vmSelector: {}\n',
      [
        'warning: w.yaml:7:15: WolConfig office: spec.vmSelector: is empty, and selects every virtual machine of the namespaces; write the labels of the virtual machines, or discoveryMode: All without vmSelector',
      ],
    ],
    [
      'a mapping that allows nothing, as a warning',
      '  discoveryMode: Explicit\n  namespaceSelectors: [office]\n  explicitMappings:\n    - { macAddress: "02:00:00:00:00:01", namespace: lab, vmName: a }\n',
      [
        'warning: w.yaml:9:5: WolConfig office: spec.explicitMappings: mapping of lab/a: namespace lab is not in namespaceSelectors; add it, or remove the mapping',
      ],
    ],
  ])('%s: with line and column', (_what, spec, expected) => expect(findings(config(spec))).toEqual(expected));

  it('a port that agents of another one open in another way is a problem at the port', () => {
    const lab = config('  wolPorts: [7, 9]\n  agent: { interfaces: [eth1] }\n').replace('name: office', 'name: lab');
    expect(findings(`${lab}---\n${config('  wolPorts: [40000, 9]\n')}`)).toEqual([
      'problem: w.yaml:14:21: WolConfig office: spec.wolPorts[1]: UDP port 9 is opened by the agents of WolConfig lab, which is older, with another password or other interfaces, frames or promiscuous mode; choose another UDP port, or the same settings',
    ]);
    expect(findings(`${lab}---\n${config('  wolPorts: [40000]\n')}`)).toEqual([]);
  });

  it('a problem of the default port is a problem of the list', () => {
    const lab = config('  agent: { nodeSelector: { room: lab } }\n').replace('name: office', 'name: lab');
    expect(findings(`${lab}---\n${config('  discoveryMode: All\n')}`)).toEqual([
      expect.stringMatching(/^problem: .* WolConfig office: spec\.wolPorts: UDP port 9 is opened by the agents of WolConfig lab/),
    ]);
  });

  it('one without a password that allows machines of one with a password gets a warning', () => {
    const secured = config('  passwordSecret: { name: office, key: password }\n').replace('name: office', 'name: secured');
    expect(findings(`${secured}---\n${config('  wolPorts: [7]\n')}`)).toEqual([
      'warning: w.yaml:6:19: WolConfig secured: spec.passwordSecret: WolConfig office allows machines of this one without a password, so packets without it start them; give WolConfig office the same passwordSecret, or let it allow other machines only',
    ]);
    expect(
      findings(`${secured}---\n${config('  namespaceSelectors: [lab]\n  passwordSecret: { name: office, key: password }\n')}`),
    ).toEqual([]);
  });

  it('two with one name, and a kind that the group does not have', () => {
    const office = config('  wolPorts: [9]\n');
    expect(findings(`${office}---\n${office}`)).toEqual([
      expect.stringMatching(/WolConfig office: metadata.name: is already in w.yaml:4; remove one of the two/),
    ]);
    expect(findings(office.replace('WolConfig', 'WOLConfig'))).toEqual([
      expect.stringContaining('wol.pillon.org/v1beta1 has no kind "WOLConfig"; did you mean WolConfig?'),
    ]);
  });
});
