import { readField, readList } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { type AgentPodSettings, toAgentDeployment } from './agent-deployment.js';

const SETTINGS: AgentPodSettings = {
  namespace: 'harvester-system',
  image: 'agent:1',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  serviceAccountName: 'agent',
  priorityClassName: undefined,
  replicas: 2,
  resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
  leaseSeconds: 2.75,
  dryRun: false,
};

function argumentsOf(settings: Partial<AgentPodSettings>): readonly unknown[] {
  const parts = { group: 'g', clusterNetwork: undefined, pools: [], image: 'agent:1' };
  const { spec } = toAgentDeployment(parts, { ...SETTINGS, ...settings });
  return readList(readList(spec, 'template', 'spec', 'containers')[0], 'args');
}

it('agents listen on the address of their pod, and show their leases only when they are to', () => {
  expect(argumentsOf({})).toEqual(['serve', '--http', '$(POD_IP):8080', '--lease-seconds', '2.75']);
  expect(argumentsOf({ showsLeases: true })).toContain('--enable-cache-dump-api');
});

it('the address of the pod comes from Kubernetes', () => {
  const parts = { group: 'g', clusterNetwork: undefined, pools: [], image: 'agent:1' };
  const { spec } = toAgentDeployment(parts, SETTINGS);
  const [container] = readList(spec, 'template', 'spec', 'containers');
  const variable = readList(container, 'env').find((entry) => readField(entry, 'name') === 'POD_IP');
  expect(readField(variable, 'valueFrom', 'fieldRef', 'fieldPath')).toBe('status.podIP');
});
