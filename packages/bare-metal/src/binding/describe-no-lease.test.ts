import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { clusterAgent } from '../linux/hosts-fixtures.js';
import { describeNoLease } from './describe-no-lease.js';

const endpoint = (ipAddr: string, ofAgent = 'rack'): KubernetesObject => ({
  ...{ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', metadata: { name: 'bmc-1' } },
  spec: { clusterAgent: ofAgent, ipAddr },
});

it.each<[what: string, address: string, endpoints: readonly KubernetesObject[], expected: string | undefined]>([
  ['an address of the subnet', '10.0.0.5', [], undefined],
  ['an address of another subnet', '10.0.9.5', [], 'outside the subnet of ClusterAgent rack'],
  ['that of a HostEndpoint', '10.0.0.5', [endpoint('10.0.0.5')], 'HostEndpoint bmc-1 has the address'],
  ['that of a HostEndpoint of another ClusterAgent', '10.0.0.5', [endpoint('10.0.0.5', 'other')], undefined],
  ['an address beside that of a HostEndpoint', '10.0.0.5', [endpoint('10.0.0.6'), endpoint('x')], undefined],
])('%s: whether a lease of it can end', (_, address, hostEndpoints, expected) => {
  const found = describeNoLease({ address, clusterAgent: 'rack' }, { clusterAgents: [clusterAgent()], hostEndpoints });
  expect(found).toEqual(expected && expect.stringContaining(expected));
});

it('a ClusterAgent whose subnet cannot be read may keep leases of the previous one', () => {
  const facts = { clusterAgents: [clusterAgent({ subnet: 'x' })], hostEndpoints: [] };
  expect(describeNoLease({ address: '10.0.9.5', clusterAgent: 'rack' }, facts)).toBeUndefined();
});

it('a ClusterAgent that does not exist keeps no lease', () => {
  const found = describeNoLease({ address: '10.0.0.5', clusterAgent: 'gone' }, { clusterAgents: [], hostEndpoints: [] });
  expect(found).toContain('ClusterAgent gone does not exist');
});
