import { describe, expect, it } from 'vitest';
import { clusterAgentObject } from '../controller/cluster-agent-fixtures.js';
import { findSharedUnderlays } from './find-shared-underlays.js';
import { readHostWorkload } from './read-host-workload.js';

type Parts = Parameters<typeof clusterAgentObject>[1];
const OTHER = { ipRange: '192.168.0.110-192.168.0.120', selfIp: '192.168.0.3/24' };

function conflictsOf(...agents: readonly (readonly [name: string, parts: Parts])[]) {
  const objects = agents.map(([name, parts], age) => clusterAgentObject(name, { age, ...parts }));
  return [...findSharedUnderlays(objects.map(readHostWorkload), 'vm-dhcp-agents').entries()];
}

describe('two ClusterAgents on one network', () => {
  it.each<[string, Parts, Parts]>([
    ['other addresses', {}, { dhcp: OTHER }],
    ['another network', {}, { yaml: { underlayInterface: 'kube-system/other' } }],
    ['the same name in another namespace', {}, { yaml: { underlayInterface: 'management' } }],
    ['DHCP switched off', {}, { yaml: { replicas: 0 } }],
    [
      'interfaces of different nodes',
      { yaml: { hostNetwork: true, nodeName: 'a' } },
      { yaml: { hostNetwork: true, nodeName: 'b' } },
    ],
  ])('%s: both serve', (_, one, other) => expect(conflictsOf(['old', one], ['young', other])).toEqual([]));

  it.each<[string, Parts, Parts, string]>([
    ['the same everything', {}, {}, 'selfIp 192.168.0.2 and addresses of ipRange'],
    ['ranges that overlap by one', {}, { dhcp: { ...OTHER, ipRange: '192.168.0.100-192.168.0.120' } }, 'addresses of ipRange'],
    ['the same selfIp', {}, { dhcp: { ...OTHER, selfIp: '192.168.0.2/24' } }, 'selfIp 192.168.0.2'],
    ['with an interface behind the name', {}, { yaml: { underlayInterface: 'kube-system/management@x' } }, 'selfIp'],
    [
      'one interface of all nodes',
      { yaml: { hostNetwork: true } },
      { yaml: { hostNetwork: true } },
      'interface net1 of the nodes',
    ],
  ])('%s: only the older one runs', (_, one, other, text) => {
    const [conflict, ...others] = conflictsOf(['old', one], ['young', other]);
    expect(others).toEqual([]);
    expect(conflict?.[0]).toBe('young');
    expect(conflict?.[1]).toMatch(/^the older ClusterAgent old is on the same network/);
    expect(conflict?.[1]).toContain(text);
  });

  it('one that waits does not block younger ones', () => {
    const wide = { dhcp: { ipRange: '192.168.0.10-192.168.0.120', selfIp: '192.168.0.4/24' } };
    expect(conflictsOf(['old', {}], ['waits', wide], ['young', { dhcp: OTHER }]).map(([name]) => name)).toEqual(['waits']);
  });
});
