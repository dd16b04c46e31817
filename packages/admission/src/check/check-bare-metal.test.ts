import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFinding } from './check-finding.js';
import { checkManifests } from './check-manifests.js';

const EXAMPLE = readFileSync(new URL('../../../../examples/cluster/bare-metal.yaml', import.meta.url), 'utf8');
const clusterNetworks = { serviceCidrs: [], podCidrs: [], apiServers: [] };

function check(text: string) {
  return checkManifests([{ name: 'b.yaml', text }], { namespace: 'default', clusterNetworks });
}

const findings = (text: string) => check(text).findings.map(describeFinding);
const changed = (from: string, to: string) => findings(EXAMPLE.replace(from, to));
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length;

describe('the check of bare-metal hosts', () => {
  it('the example has no problem, and is counted', () => {
    const { findings: found, checked } = check(EXAMPLE);
    expect(found).toEqual([]);
    expect(checked).toMatchObject({ ClusterAgent: 1, HostEndpoint: 1, HostOperation: 1 });
  });

  it.each([
    ['gateway: 192.168.0.1\n', 'gateway: 192.168.0.20\n', 'spec.feature.dhcpServerConfig.gateway: is in ipRange'],
    [
      'ipRange: 192.168.0.10-192.168.0.100',
      'ipRange: 192.168.0.100-192.168.0.10',
      'ends before its start; swap the two addresses',
    ],
    ['underlayInterface: kube-system/management', 'underlayInterface: ""', 'spec.agentYaml.underlayInterface: is missing'],
    ['      secretName: rack-1-redfish\n'.trim(), 'name: x', 'spec.endpoint.secretName'],
    ['replicas: 2', 'replicas: two', 'spec.agentYaml.replicas'],
    [
      'replicas: 2',
      'image: <your-registry>/agent:custom',
      'spec.agentYaml.image: "<your-registry>/agent:custom" is not an image; write REPOSITORY:TAG, as in registry.example.com/vmdhcp-agent:v1',
    ],
    ['ipAddr: 192.168.0.50', 'ipAddr: 192.168.0.500', 'HostEndpoint rack-1-switch: spec.ipAddr'],
    ['ipAddr: 192.168.0.50', 'ipAddr: 192.168.0.2', 'spec.ipAddr: 192.168.0.2 is selfIp of ClusterAgent rack-1'],
    ['ipAddr: 192.168.0.50', 'ipAddr: 192.168.0.1', 'spec.ipAddr: 192.168.0.1 is the gateway of ClusterAgent rack-1'],
    ['dhcpServerInterface: net1', 'dhcpServerInterface: management-network', 'is not a name that an interface of Linux can have'],
    ['action: PxeReboot', 'action: Explode', 'HostOperation reinstall-rack-1-switch: spec.action'],
    ['action: PxeReboot', 'action: On', 'in quotes: YAML reads the bare words on, off, yes and no as true and false'],
    [
      'underlayInterface: kube-system/management',
      'underlayInterface: kube-system/',
      'is not a valid name of a NetworkAttachmentDefinition',
    ],
  ])('%s -> %s', (from, to, expected) => {
    const found = changed(from, to);
    expect(found.join('\n')).toContain(expected);
    expect(found.every((one) => /^(problem|warning): b\.yaml:\d+:\d+: /.test(one))).toBe(true);
  });

  it('a schema error hides no other problem, and a field has only one', () => {
    const text = EXAMPLE.replace('replicas: 2', 'replicas: -1').replace('gateway: 192.168.0.1\n', 'gateway: 192.168.0.20\n');
    const fields = check(text).findings.map(({ field }) => field);
    expect(fields).toEqual(['spec.agentYaml.replicas', 'spec.feature.dhcpServerConfig.gateway']);
  });

  it('has the line and column of the value', () => {
    const text = EXAMPLE.replace('gateway: 192.168.0.1\n', 'gateway: 10.0.0.1\n');
    const line = lineOf(text, 'gateway: 10.0.0.1');
    expect(findings(text)).toEqual([
      `problem: b.yaml:${line}:16: ClusterAgent rack-1: spec.feature.dhcpServerConfig.gateway: is not the address of a host in 192.168.0.0/24; write an address between the first and the last one of the subnet`,
    ]);
  });

  it('hosts that would be polled over HTTPS without a Secret are a problem of the ClusterAgent and of the HostEndpoint', () => {
    const text = EXAMPLE.replace('    secretName: rack-1-redfish\n    secretNamespace: vm-dhcp-agents\n', '');
    expect(check(text).findings.map(({ severity, object, field }) => `${severity} ${object} ${field}`)).toEqual([
      'problem ClusterAgent rack-1 spec.endpoint.secretName',
      'problem HostEndpoint rack-1-switch spec.secretName',
    ]);
  });

  it('if two ClusterAgents have the same addresses on one network, one of them is a problem', () => {
    const [agent = ''] = EXAMPLE.split('---');
    const found = findings(`${EXAMPLE}---\n${agent.replace('name: rack-1\n', 'name: rack-2\n')}`);
    expect(found.filter((one) => one.startsWith('problem'))).toEqual([
      expect.stringMatching(
        /ClusterAgent rack-2: spec\.feature\.dhcpServerConfig: the older ClusterAgent rack-1 is on the same network/,
      ),
    ]);
  });

  it('an address of two HostEndpoints is a problem; a ClusterAgent that the files lack is a warning', () => {
    const [, endpoint = ''] = EXAMPLE.split('---');
    const twice = findings(`${EXAMPLE}---\n${endpoint.replace('rack-1-switch', 'other')}`);
    expect(twice).toEqual([
      expect.stringContaining('HostEndpoint other: spec.ipAddr: HostEndpoint rack-1-switch has this address too'),
    ]);
    expect(changed('clusterAgent: rack-1', 'clusterAgent: rack-9')).toEqual([
      expect.stringMatching(/^warning: .* the files have no ClusterAgent rack-9; write one of rack-1$/),
    ]);
  });

  it.each(['HostStatus', 'LeaseSlice', 'HostEndpoint', 'ClusterAgent', 'HostOperation'])(
    '%s that begins with a lower-case letter has its name in the remedy',
    (kind) => {
      const text = `apiVersion: bmc.spidernet.io/v1beta1\nkind: ${kind[0]?.toLowerCase()}${kind.slice(1)}\nmetadata: { name: a }\n`;
      expect(findings(text)).toEqual([expect.stringContaining(`; did you mean ${kind}?`)]);
    },
  );

  it('dhcpServerInterface beside dhcpServerConfig is a problem that says where it belongs', () => {
    const text = EXAMPLE.replace('  feature:\n', '  feature:\n    dhcpServerInterface: net1\n');
    expect(findings(text)).toEqual([
      expect.stringMatching(
        /^problem: .* spec\.feature\.dhcpServerInterface: is not a known field; move it to spec\.feature\.dhcpServerConfig\.dhcpServerInterface$/,
      ),
    ]);
  });

  it('objects that agents write are ignored', () => {
    const host = 'apiVersion: bmc.spidernet.io/v1beta1\nkind: HostStatus\nmetadata: { name: rack-1-10-0-0-1 }\n';
    expect(check(host)).toMatchObject({ findings: [], ignored: 1 });
  });
});
