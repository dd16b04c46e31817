import { describe, expect, it } from 'vitest';
import { rolloutTrouble } from './rollout-trouble.js';

function deployment(conditions: readonly object[]) {
  return {
    metadata: { namespace: 'harvester-system', name: 'vm-dhcp-agent-vlan-1' },
    spec: { template: { spec: { serviceAccountName: 'vm-dhcp-controller-agent' } } },
    status: { conditions },
  };
}

const failed = (message: string) =>
  rolloutTrouble(deployment([{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }]), REMEDIES);

/** Messages of API servers. */
const POD = 'pods "vm-dhcp-agent-vlan-1-5d9c7b8f6d-x2x7k" is forbidden';

const REMEDIES = {
  privileged: 'agents need NET_ADMIN and NET_RAW',
  serviceAccount: 'with the rights of agents, or name another one (--service-account-name)',
  priorityClass: '--agent-priority-class, "" for none',
  quota: '--agent-replicas, --agent-memory-limit',
};

describe('rolloutTrouble', () => {
  it.each([
    [
      `${POD}: violates PodSecurity "baseline:latest": non-default capabilities (container "agent" must not include "NET_ADMIN", "NET_RAW" in securityContext.capabilities.add)`,
      'kubectl label --overwrite namespace harvester-system pod-security.kubernetes.io/enforce=privileged',
    ],
    [
      `${POD}: error looking up service account harvester-system/vm-dhcp-controller-agent: serviceaccount "vm-dhcp-controller-agent" not found`,
      'create the ServiceAccount harvester-system/vm-dhcp-controller-agent with the rights of agents',
    ],
    [
      `${POD}: exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4`,
      'raise ResourceQuota compute of namespace harvester-system',
    ],
    [`${POD}: failed quota: compute: must specify limits.cpu for: agent`, 'raise ResourceQuota compute'],
    [
      `${POD}: insufficient quota to match these scopes: [{PriorityClass In [system-node-critical system-cluster-critical]}]`,
      '--agent-priority-class',
    ],
    [
      'serviceaccount agent not found',
      'create the ServiceAccount harvester-system/vm-dhcp-controller-agent with the rights of agents',
    ],
    [`${POD}: no PriorityClass with name nosuch was found`, 'create the PriorityClass nosuch'],
    ['admission webhook "policy.example.com" denied the request: no', 'describe deployment vm-dhcp-agent-vlan-1 has details'],
  ])('%s', (reported, remedy) => {
    const trouble = failed(reported);
    expect(trouble?.reason).toBe('FailedCreate');
    expect(trouble?.message).toContain(reported);
    expect(trouble?.message).toContain(remedy);
  });

  it('a long cause is shortened in the message', () => {
    expect(failed('x'.repeat(100_000))?.message.length).toBeLessThan(1_000);
    expect(failed('x'.repeat(500))?.message, 'of 500 characters').not.toContain('...');
    expect(failed('x'.repeat(501))?.message, 'of more').toContain(`: ${'x'.repeat(500)} ...; `);
  });

  it('a Deployment without a ServiceAccount needs the one named default', () => {
    const failure = { type: 'ReplicaFailure', status: 'True', message: 'serviceaccount "default" not found' };
    expect(rolloutTrouble({ ...deployment([failure]), spec: {} }, REMEDIES)?.message).toContain(
      'create the ServiceAccount harvester-system/default with',
    );
  });

  it('pods that cannot be created are why a rollout is stuck', () => {
    const stuck = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
    const failure = { type: 'ReplicaFailure', status: 'True' };
    expect(rolloutTrouble(deployment([stuck, failure]), REMEDIES)?.reason).toBe('FailedCreate');
    expect(rolloutTrouble(deployment([stuck, { ...failure, status: 'False' }]), REMEDIES)?.reason).toBe('RolloutStuck');
    expect(rolloutTrouble(undefined, REMEDIES)).toBeUndefined();
  });

  it('a rollout without progress is reported', () => {
    const message = 'ReplicaSet "vm-dhcp-agent-vlan-1-5d9c7b8f6d" has timed out progressing.';
    const progressing = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message };
    expect(rolloutTrouble(deployment([progressing]), REMEDIES)).toMatchObject({
      reason: 'RolloutStuck',
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([
    [[]],
    [[{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }]],
    [[{ type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' }]],
    [[{ type: 'Progressing', status: 'True', reason: 'ProgressDeadlineExceeded' }]],
    [[{ type: 'Available', status: 'False', reason: 'ProgressDeadlineExceeded' }]],
    [[{ type: 'ReplicaFailure', status: 'False' }]],
    [[{ type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' }]],
  ])('%j is not a problem', (conditions) => {
    expect(rolloutTrouble(deployment(conditions), REMEDIES)).toBeUndefined();
  });
});
