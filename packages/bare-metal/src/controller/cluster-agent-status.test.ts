import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { HostAgentSettings } from '../workload/host-agent-settings.js';
import { planHostAgents } from '../workload/plan-host-agents.js';
import { secretTexts } from '../workload/secret-texts.js';
import { clusterAgentObject, HOST_AGENT_SETTINGS, HOST_AGENTS_BINDING_OBJECT } from './cluster-agent-fixtures.js';
import { type ClusterAgentFacts, clusterAgentStatus, planClusterAgentStatus } from './cluster-agent-status.js';

type Fields = Readonly<Record<string, unknown>>;
const VOLUME: HostAgentSettings = { ...HOST_AGENT_SETTINGS, leases: { kind: 'host-path', path: '/x' } };

/** In the form of the Deployment controller of Kubernetes. */
function deployment(agent: KubernetesObject, status: Fields = {}): KubernetesObject {
  const { writes } = planHostAgents(
    { clusterAgents: [agent], endpoints: [], credentials: new Set(), objects: [] },
    HOST_AGENT_SETTINGS,
  );
  const planned = writes.find(({ object }) => object.kind === 'Deployment')?.object as KubernetesObject;
  return {
    ...planned,
    metadata: { ...planned.metadata, uid: 'deployment', generation: 2 },
    status: { observedGeneration: 2, ...status },
  };
}

interface Case {
  readonly agent: KubernetesObject;
  readonly others?: readonly KubernetesObject[];
  readonly status?: Fields;
  readonly settings?: HostAgentSettings;
  readonly facts?: Partial<ClusterAgentFacts>;
}

function statusOf({ agent, others = [], status, settings = HOST_AGENT_SETTINGS, facts = {} }: Case) {
  const deployments = status === undefined ? [] : [deployment(clusterAgentObject(agent.metadata.name), status)];
  const objects = [HOST_AGENTS_BINDING_OBJECT, ...deployments];
  const { agents } = planHostAgents(
    { clusterAgents: [...others, agent], endpoints: [], credentials: new Set(), objects },
    settings,
  );
  const own = agents.get(agent.metadata.name);
  if (own === undefined) throw new Error('not planned');
  return clusterAgentStatus({ agents: own, secretTexts: [], failure: undefined, ...facts });
}

const counts = (count: number) => ({ replicas: count, readyReplicas: count, updatedReplicas: count, availableReplicas: count });
const rack = (yaml: Fields = {}) => clusterAgentObject('rack', { yaml, age: 1 });

describe('the condition Ready, and status.ready', () => {
  it.each<[string, Case, string]>([
    ['all agents are ready', { agent: rack(), status: counts(1) }, 'True HostAgentsReady'],
    ['there is no Deployment yet', { agent: rack() }, 'False HostAgentsStarting'],
    [
      'one of two is ready',
      { agent: rack({ replicas: 2 }), status: { ...counts(2), readyReplicas: 1 } },
      'False HostAgentsStarting',
    ],
    ['pods of an older template are left', { agent: rack(), status: { ...counts(1), replicas: 2 } }, 'False HostAgentsStarting'],
    [
      'the numbers are of an older Deployment',
      { agent: rack(), status: { ...counts(1), observedGeneration: 1 } },
      'False HostAgentsStarting',
    ],
    ['0 replicas', { agent: rack({ replicas: 0 }), status: counts(0) }, 'False HostAgentsOff'],
    [
      'pods cannot be created',
      { agent: rack(), status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'violates PodSecurity' }] } },
      'False HostAgentsStuck',
    ],
    [
      'a write was refused',
      { agent: rack(), facts: { failure: { reason: 'HostAgentsFailed', message: 'x' } } },
      'False HostAgentsFailed',
    ],
    [
      'an object of others',
      { agent: rack(), facts: { failure: { reason: 'HostAgentsRefused', message: 'x' } } },
      'False HostAgentsRefused',
    ],
    ['it is wrong, and has no agents', { agent: rack({ underlayInterface: '' }) }, 'False ClusterAgentInvalid'],
    ['its image is a placeholder', { agent: rack({ image: '<your-registry>/agent:custom' }) }, 'False ClusterAgentInvalid'],
    ['it is wrong, and its agents stay', { agent: rack({ underlayInterface: '' }), status: counts(1) }, 'True HostAgentsReady'],
    ['an older one has its addresses', { agent: rack(), others: [clusterAgentObject('older')] }, 'False UnderlayShared'],
    ['one agent runs, of three', { agent: rack({ replicas: 3 }), settings: VOLUME, status: counts(1) }, 'True HostAgentsReady'],
  ])('%s', (_, given, expected) => {
    const { ready, conditions } = statusOf(given);
    expect(`${conditions[0].status} ${conditions[0].reason}`).toBe(expected);
    expect(ready).toBe(expected.startsWith('True'));
  });
});

describe('the condition Valid', () => {
  it.each<[string, Case, string, string]>([
    ['nothing is wrong', { agent: rack() }, 'True', ''],
    ['an image with a port and a digest', { agent: rack({ image: '[2001:db8::1]:5000/a/b@sha256:0123' }) }, 'True', ''],
    [
      'an image that is a placeholder',
      { agent: rack({ image: '<your-registry>/agent:custom' }) },
      'False ClusterAgentInvalid',
      'spec.agentYaml.image: "<your-registry>/agent:custom" is not an image; write REPOSITORY:TAG',
    ],
    [
      'an older one has its addresses',
      { agent: rack(), others: [clusterAgentObject('older')] },
      'False UnderlayShared',
      'the older ClusterAgent older',
    ],
    [
      'more agents than a folder has writers',
      { agent: rack({ replicas: 3 }), settings: VOLUME },
      'False OneAgentOnly',
      'one agent runs',
    ],
    [
      'hostNetwork with nodeName',
      { agent: rack({ replicas: 2, hostNetwork: true, nodeName: 'a' }) },
      'False OneAgentOnly',
      'remove nodeName',
    ],
  ])('%s', (_, given, expected, message) => {
    const [, valid] = statusOf(given).conditions;
    expect([valid.status, valid.reason].filter(Boolean).join(' ')).toBe(expected);
    expect(valid.message ?? '').toContain(message);
  });

  it('lists every problem at once, with its field', () => {
    const agent = clusterAgentObject('rack', { yaml: { underlayInterface: '' }, dhcp: { subnet: 'x', gateway: '999.1.1.1' } });
    const [, valid] = statusOf({ agent }).conditions;
    for (const field of ['underlayInterface', 'subnet', 'gateway']) expect(valid.message).toContain(field);
  });

  it.each<[string, string, Fields | undefined, string]>([
    [
      'that does not exist, or is not labelled',
      'bmc-secrets',
      undefined,
      'Secret bmc-secrets/bmc does not exist, or lacks the label bmc.spidernet.io/host-credentials=true, so agents may not read it; create it with username and password, or with tls.key and tls.crt, then: kubectl -n bmc-secrets label secret bmc bmc.spidernet.io/host-credentials=true',
    ],
    ['without a password', 'bmc-secrets', { username: 'YQ==' }, 'has username and no password'],
    [
      'of a namespace that is not allowed',
      'kube-system',
      { username: 'YQ==', password: 'YQ==' },
      '--bare-metal-secret-namespace',
    ],
  ])('names a Secret %s', (_, namespace, data, expected) => {
    const agent = clusterAgentObject('rack', { endpoint: { secretName: 'bmc', secretNamespace: namespace } });
    const secret = { namespace, name: 'bmc', of: agent, path: ['spec', 'endpoint', 'secretName'] };
    const texts = secretTexts(secret, { allowed: HOST_AGENT_SETTINGS.secretNamespaces, find: () => data });
    const [, valid] = statusOf({ agent, facts: { secretTexts: texts } }).conditions;
    expect(valid.reason).toBe('HostSecretUnusable');
    expect(valid.message).toContain(expected);
    expect(valid.message).toContain('spec.endpoint.secretName');
  });
});

it('a status is written only once, and fields of the agent are left alone', () => {
  const agent = { ...rack(), status: { addresses: { total: 91, used: 1, available: 90 } } };
  const wanted = statusOf({ agent, status: counts(1) });
  const patch = planClusterAgentStatus(agent, wanted, '2026-01-01T00:00:00Z');
  const after = applyMergePatch(agent as never, patch ?? {}) as KubernetesObject;
  expect(after.status).toMatchObject({ ready: true, addresses: { used: 1 } });
  expect(planClusterAgentStatus(after, wanted, '2026-02-02T00:00:00Z')).toBeUndefined();
});
