import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { Leader } from './leader.js';
import { trustedLeaders } from './trusted-leaders.js';

const AGENTS = 'vm-dhcp-agents';

/** @param namespace - of its agents; undefined if its status names none. */
function ipPool(name: string, namespace: string | undefined): KubernetesObject {
  const status = namespace === undefined ? {} : { agentDeploymentRef: { namespace, name: 'group' } };
  return { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool', metadata: { namespace: 'default', name }, status };
}

const leader = (namespace: string, ...pools: readonly string[]): Leader => ({ namespace, group: 'group', pod: 'pod', pools });

describe('leaders in whose pods commands may run', () => {
  it.each([
    ['of the namespace that the status of the IPPool names', leader(AGENTS, 'default/one'), ['default/one']],
    ['with the pools that name its namespace alone', leader(AGENTS, 'default/one', 'default/moved'), ['default/one']],
    ['of another namespace: a tenant who may write Leases there', leader('a-tenant', 'default/one'), []],
    ['where the status of the IPPool names no agents', leader('a-tenant', 'default/unserved'), []],
    ['of a pool that does not exist', leader('a-tenant', 'default/none'), []],
    ['that reports no pool', leader(AGENTS), []],
  ])('%s', (_who, one, pools) => {
    const ipPools = [ipPool('one', AGENTS), ipPool('moved', 'elsewhere'), ipPool('unserved', undefined)];
    expect(trustedLeaders([one], ipPools).flatMap((trusted) => trusted.pools)).toEqual(pools);
  });

  it('a cluster without IPPools has none, whatever Leases claim', () => {
    expect(trustedLeaders([leader('a-tenant', 'default/one'), leader(AGENTS, 'default/one')], [])).toEqual([]);
  });
});
