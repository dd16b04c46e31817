import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { reviewFeatureObject } from './review-feature-object.js';

const object = (kind: string, spec: object): KubernetesObject => {
  const group = kind === 'WolConfig' ? 'wol.pillon.org' : 'bmc.spidernet.io';
  return { apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'rack-1' }, spec } as unknown as KubernetesObject;
};
const DHCP = {
  dhcpServerInterface: 'net1',
  subnet: '192.168.0.0/24',
  ipRange: '192.168.0.10-192.168.0.100',
  gateway: '192.168.0.1',
  selfIp: '192.168.0.2/24',
};
const clusterAgent = (config: object) =>
  object('ClusterAgent', {
    agentYaml: { underlayInterface: 'net' },
    endpoint: { https: false },
    feature: { dhcpServerConfig: { ...DHCP, ...config } },
  });

/** The wrong fields, and those with a warning. */
function review(one: KubernetesObject, oldObject?: KubernetesObject) {
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE';
  const { allowed, problems, warnings } = reviewFeatureObject({
    operation,
    object: one,
    oldObject,
    namespace: '',
    name: 'rack-1',
  });
  expect(allowed).toBe(problems.length === 0);
  const fields = (found: typeof problems) => found.map(({ path }) => path.join('.'));
  return { problems: fields(problems), warnings: fields(warnings) };
}

describe('reviewFeatureObject', () => {
  it.each<[what: string, one: KubernetesObject]>([
    ['a WolConfig', object('WolConfig', {})],
    ['a ClusterAgent', clusterAgent({})],
    ['a HostEndpoint', object('HostEndpoint', { ipAddr: '192.168.0.50' })],
    ['a HostOperation', object('HostOperation', { action: 'PxeReboot', hostStatusName: 'rack-1-192-168-0-50' })],
  ])('a valid %s is allowed without a warning', (_what, one) => {
    expect(review(one)).toEqual({ problems: [], warnings: [] });
  });

  it.each<[what: string, one: KubernetesObject, field: string]>([
    ['a WolConfig with a port that does not exist', object('WolConfig', { wolPorts: [9, 70_000] }), 'spec.wolPorts.1'],
    ['a WolConfig with an image that is a placeholder', object('WolConfig', { agent: { image: '<a>/b:c' } }), 'spec.agent.image'],
    [
      'a ClusterAgent with a reversed range',
      clusterAgent({ ipRange: '192.168.0.100-192.168.0.10' }),
      'spec.feature.dhcpServerConfig.ipRange',
    ],
    ['a HostEndpoint without an address', object('HostEndpoint', { ipAddr: 'rack' }), 'spec.ipAddr'],
    ['a HostEndpoint at a loopback address', object('HostEndpoint', { ipAddr: '127.0.0.1' }), 'spec.ipAddr'],
    [
      'a HostOperation with an unknown action',
      object('HostOperation', { action: 'Explode', hostStatusName: 'a' }),
      'spec.action',
    ],
  ])('%s is refused', (_what, one, field) => {
    expect(review(one)).toEqual({ problems: [field], warnings: [] });
  });

  it('a WolConfig whose selector is empty is allowed with a warning', () => {
    expect(review(object('WolConfig', { discoveryMode: 'LabelSelector', vmSelector: {} }))).toEqual({
      problems: [],
      warnings: ['spec.vmSelector'],
    });
  });

  it('an existing problem is a warning, and a new one is refused', () => {
    const old = clusterAgent({ gateway: '10.0.0.1' });
    const gateway = 'spec.feature.dhcpServerConfig.gateway';
    expect(review(clusterAgent({ gateway: '10.0.0.1', leaseTime: 60 }), old)).toEqual({ problems: [], warnings: [gateway] });
    expect(review(clusterAgent({ gateway: '10.0.0.1', selfIp: '10.0.0.2/24' }), old).problems).toEqual([
      'spec.feature.dhcpServerConfig.selfIp',
    ]);
    expect(review(clusterAgent({}), old)).toEqual({ problems: [], warnings: [] });
  });

  it('an object of another kind is allowed', () => {
    expect(review(object('HostStatus', { ipAddr: 5 }))).toEqual({ problems: [], warnings: [] });
  });

  it('an object that is being deleted can be changed in any way', () => {
    const wrong = object('WolConfig', { wolPorts: [0] });
    const leaving = { ...wrong, metadata: { ...wrong.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(review(leaving, object('WolConfig', {}))).toEqual({ problems: [], warnings: [] });
  });
});
