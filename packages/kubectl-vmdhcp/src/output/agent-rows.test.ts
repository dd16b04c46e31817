import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { type AgentRow, agentsKind } from './agent-rows.js';

const AGENTS = 'vm-dhcp-agents';
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

function lease(namespace: string, ...pools: readonly string[]): KubernetesObject {
  const report = Object.fromEntries(pools.map((pool) => [pool, { serving: true }]));
  return {
    metadata: {
      namespace,
      name: 'group',
      annotations: { 'network.harvesterhci.io/agent-report': JSON.stringify(report) },
    },
    spec: { holderIdentity: 'pod_x', leaseDurationSeconds: 15, renewTime: new Date(NOW_MS).toISOString() },
  };
}

function ipPool(name: string, namespace: string | undefined): KubernetesObject {
  const status = namespace === undefined ? {} : { agentDeploymentRef: { namespace, name: 'group' } };
  return { metadata: { namespace: 'default', name }, status };
}

/** @param ipPools - undefined if they may not be listed. */
function rowsOf(one: KubernetesObject, ipPools: readonly KubernetesObject[] | undefined, nowMs = NOW_MS): readonly AgentRow[] {
  const kind = agentsKind(true);
  kind.beside?.take(ipPools ?? 'refused');
  return kind.toRows(one, nowMs);
}

describe('listed agents', () => {
  const ipPools = [ipPool('one', AGENTS), ipPool('moved', 'elsewhere'), ipPool('unserved', undefined)];

  it.each([
    ['of the namespace that the status of the IPPool names', lease(AGENTS, 'default/one'), ['default/one']],
    ['with the pools that name its namespace alone', lease(AGENTS, 'default/one', 'default/moved'), ['default/one']],
    ['that report no pool of theirs: a row without one', lease(AGENTS, 'default/moved'), ['']],
    ['that report nothing yet: a row without a pool', lease(AGENTS), ['']],
    ['of another namespace: none', lease('a-tenant', 'default/one'), []],
    ['of a pool that has no agents: none', lease('a-tenant', 'default/unserved'), []],
  ])('%s', (_which, one, pools) => {
    expect(rowsOf(one, ipPools).map(({ pool }) => pool)).toEqual(pools);
  });

  it('if IPPools may not be listed, are those of the namespace that a person named', () => {
    expect(rowsOf(lease('named', 'default/one'), undefined)).toMatchObject([{ pool: 'default/one', leader: 'pod' }]);
  });

  it('exclude a leader that stops renewing, as time passes', () => {
    const one = lease(AGENTS, 'default/one');
    expect(rowsOf(one, ipPools, NOW_MS + 1_000)).toMatchObject([{ leader: 'pod', serving: true, pool: 'default/one' }]);
    expect(rowsOf(one, ipPools, NOW_MS + 3_600_000)).toMatchObject([{ leader: '', serving: false, reason: 'NotLeading' }]);
  });

  it('exclude some Leases, with a message that says which and why', () => {
    const { beside } = agentsKind(false);
    beside?.take(ipPools);
    const leases = [lease(AGENTS, 'default/one'), lease('a-tenant', 'default/one')];
    expect(beside?.describeLeftOut(leases)).toBe(
      'left out, because no IPPool has agents in that namespace (status.agentDeploymentRef): Lease a-tenant/group',
    );
    expect(beside?.describeLeftOut(leases.slice(0, 1))).toBeUndefined();
  });

  it('exclude no Lease if IPPools may not be listed', () => {
    const { beside } = agentsKind(true);
    beside?.take('refused');
    expect(beside?.describeLeftOut([lease('named', 'default/one')])).toBeUndefined();
  });
});
