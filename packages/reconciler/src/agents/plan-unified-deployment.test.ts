import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { configuredPools } from './configured-pools.js';
import { agentInterfaceName } from './interface-name.js';
import { planUnifiedDeployment } from './plan-unified-deployment.js';
import type { PoolForAgents } from './pool-for-agents.js';

const CONTAINER = 'vm-dhcp-controller-agent';

function deployment(
  container: Readonly<Record<string, unknown>> = {},
  annotations?: Readonly<Record<string, string>>,
): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'harvester-system', name: 'agent', resourceVersion: '7' },
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: { app: 'agent' }, ...(annotations && { annotations }) },
        spec: {
          containers: [{ name: 'sidecar' }, { name: CONTAINER, image: 'agent:v1', ...container }],
          nodeSelector: { a: 'b' },
        },
      },
    },
  };
}

const net48: PoolForAgents = {
  key: 'default/net-48',
  network: 'default/vlan-48',
  serverIP: '192.168.48.2',
  cidr: '192.168.48.0/24',
};
const net49: PoolForAgents = {
  key: 'default/net-49',
  network: 'default/vlan-49',
  serverIP: '192.168.49.2',
  cidr: '192.168.49.0/24',
};

function applied(before: KubernetesObject, pools: readonly PoolForAgents[], dryRun = false): KubernetesObject {
  const plan = planUnifiedDeployment(before, CONTAINER, { pools, dryRun });
  if (!plan.ok) throw new Error(plan.message);
  return applyMergePatch(before, plan.patch ?? {}) as KubernetesObject;
}

describe('planUnifiedDeployment', () => {
  it('attaches the networks, configures the pools, removes the configuration of earlier versions, and changes nothing else', () => {
    const before = deployment(
      {
        args: ['--name=agent', '--nic=eth1', '--ippool-ref', 'default/net-48', '--dry-run', '--cidr=x', '--server-ip=y'],
        env: [
          { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
          { name: 'AGENT_NETWORK_CONFIGS', value: '[]' },
          { name: 'IPPOOL_REF', value: 'default/net-48' },
        ],
      },
      { 'kubectl.kubernetes.io/restartedAt': 'today' },
    );
    const name = agentInterfaceName('default/net-48');
    expect(applied(before, [net48])).toEqual({
      ...before,
      spec: {
        replicas: 2,
        template: {
          metadata: {
            labels: { app: 'agent' },
            annotations: {
              'kubectl.kubernetes.io/restartedAt': 'today',
              'k8s.v1.cni.cncf.io/networks': `default/vlan-48@${name}`,
            },
          },
          spec: {
            containers: [
              { name: 'sidecar' },
              {
                name: CONTAINER,
                image: 'agent:v1',
                args: ['--name=agent', '--dry-run'],
                env: [
                  { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
                  {
                    name: 'AGENT_NETWORK_CONFIGS',
                    value: `[{"interfaceName":"${name}","serverIP":"192.168.48.2","cidr":"192.168.48.0/24","ipPoolName":"default/net-48","ipPoolRef":"default/net-48","nadName":"default/vlan-48"}]`,
                  },
                  { name: 'IPPOOL_REFS_JSON', value: '["default/net-48"]' },
                ],
              },
            ],
            nodeSelector: { a: 'b' },
          },
        },
      },
    });
  });

  it('a plan after it was applied is empty, in whatever order the pools come', () => {
    const once = applied(deployment(), [net49, net48]);
    expect(planUnifiedDeployment(once, CONTAINER, { pools: [net48, net49], dryRun: false })).toEqual({
      ok: true,
      patch: undefined,
    });
    expect(planUnifiedDeployment(applied(once, []), CONTAINER, { pools: [], dryRun: false })).toEqual({
      ok: true,
      patch: undefined,
    });
  });

  it('a dry run is a variable that comes and goes; a dry run of the chart itself stays', () => {
    const chart = deployment({ args: ['serve', '--dry-run'] });
    const dry = applied(chart, [net48], true);
    expect(JSON.stringify(dry)).toContain('{"name":"VM_DHCP_AGENT_DRY_RUN","value":"true"}');
    expect(planUnifiedDeployment(dry, CONTAINER, { pools: [net48], dryRun: true })).toEqual({ ok: true, patch: undefined });
    const wet = applied(dry, [net48]);
    expect(JSON.stringify(wet)).not.toContain('VM_DHCP_AGENT_DRY_RUN');
    expect(JSON.stringify(wet)).toContain('"args":["serve","--dry-run"]');
  });

  it.each<readonly [readonly unknown[], readonly unknown[]]>([
    [
      ['serve', '--nic', 'eth1', '--server-ip', '10.0.0.2', 'more'],
      ['serve', 'more'],
    ],
    [['--nic', '--dry-run', '--cidr'], ['--dry-run']],
    [
      ['--name', 'eth1', '--nickname=x'],
      ['--name', 'eth1', '--nickname=x'],
    ],
    [
      [7, 'agent'],
      [7, 'agent'],
    ],
  ])('reduces the arguments %j to %j', (args, expected) => {
    expect(applied(deployment({ args }), [net48])).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'sidecar' }, { args: expected }] } } },
    });
  });

  describe('writes no more than what differs', () => {
    const patchOf = (object: KubernetesObject, pools: readonly PoolForAgents[]) => {
      const plan = planUnifiedDeployment(object, CONTAINER, { pools, dryRun: false });
      return plan.ok ? plan.patch : plan.message;
    };
    const annotation = { 'k8s.v1.cni.cncf.io/networks': `default/vlan-48@${agentInterfaceName('default/net-48')}` };
    const containers = (object: KubernetesObject) => readField(object.spec, 'template', 'spec', 'containers');

    it('a container that a chart has reset, and not the annotation', () => {
      const patch = patchOf(deployment({}, annotation), [net48]);
      expect(patch).toEqual({ spec: { template: { spec: { containers: containers(applied(deployment(), [net48])) } } } });
      expect(containers(applied(deployment(), [net48])), 'a container without arguments gets none').toEqual([
        { name: 'sidecar' },
        { name: CONTAINER, image: 'agent:v1', env: expect.any(Array) as unknown },
      ]);
    });

    it('an annotation that a chart has removed, and not the container; none is left without pools', () => {
      const once = applied(deployment(), [net48]);
      const removed = applyMergePatch(once, { spec: { template: { metadata: { annotations: null } } } }) as KubernetesObject;
      expect(patchOf(removed, [net48])).toEqual({ spec: { template: { metadata: { annotations: annotation } } } });
      expect(patchOf(once, [])).toMatchObject({
        spec: { template: { metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': null } } } },
      });
    });
  });

  it('the configured pools can be read', () => {
    expect([...configuredPools(applied(deployment(), [net49, net48]), CONTAINER).values()]).toEqual([net48, net49]);
  });

  it('names the containers, if the wanted one is missing', () => {
    expect(planUnifiedDeployment(deployment(), 'agent', { pools: [net48], dryRun: false })).toEqual({
      ok: false,
      reason: 'agent-container-missing',
      message:
        "Deployment harvester-system/agent has no container 'agent', only sidecar, vm-dhcp-controller-agent; set AGENT_CONTAINER_NAME",
    });
    const empty = { ...deployment(), spec: {} };
    expect(planUnifiedDeployment(empty, 'agent', { pools: [], dryRun: false })).toMatchObject({
      message: "Deployment harvester-system/agent has no container 'agent', only none; set AGENT_CONTAINER_NAME",
    });
  });
});
