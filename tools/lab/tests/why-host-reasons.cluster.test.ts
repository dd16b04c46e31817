/**
 * Every reason that `kubectl vmdhcp why` gives for a bare-metal host, each in a situation that a controller of this checkout, or the inventory of an agent, made or
 * found: at its link, as grave as it is there, and with its remedy. Always simulated.
 *
 * @module-tag nightly
 */

import { HOST_REASON_LINKS, type HostChain, type HostChainReason } from '@vmdhcp/explain/hosts';
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addHostNetworks, addInvalidNetwork, HOST_SITUATIONS, HostCluster, KubectlPlugin, waitFor } from '../src/index.js';

/** What an agent finds on a network, and writes into the status of its ClusterAgent: which test has each, and why it is not here. */
const OF_A_NETWORK: Partial<Readonly<Record<HostChainReason, string>>> = {
  SelfIpInUse: 'hosts.lab.test.ts: needs another host on a real network',
  OtherServerAnswers: 'hosts.lab.test.ts: needs another DHCP server',
  AddressesExhausted: 'hosts.lab.test.ts: needs clients that ask',
  LeaseKept: 'hosts.lab.test.ts: needs a host that answers ARP',
  HostAgentCannotServe:
    'lone-agent.test.ts of vmdhcp-agent writes the condition, explain-host.test.ts explains it: an interface that fails lets another replica lead, so it is there for a moment',
};

const REASONS = ['ClusterAgentInvalid', ...HOST_SITUATIONS.map(({ reason }) => reason)] as HostChainReason[];

const plugin = new KubectlPlugin();
const asked = new Map<string, string>();
let cluster: HostCluster;

beforeAll(async () => {
  cluster = await HostCluster.start();
  asked.set('ClusterAgentInvalid', await addInvalidNetwork(cluster));
  await cluster.cluster.startController('--namespace', 'vm-dhcp-agents', '--bare-metal', '--image', 'agent:v1');
  await addHostNetworks(cluster);
  for (const { reason, make } of HOST_SITUATIONS) asked.set(reason, await make(cluster));
}, 180_000);

afterAll(async () => {
  plugin.close();
  await cluster?.close();
});

async function chainsOf(address: string): Promise<readonly HostChain[]> {
  const { stdout, stderr } = await plugin.run(cluster.cluster.adminKubeconfig, ['why', address, '-o', 'json']);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { readonly hosts?: readonly HostChain[] }).hosts ?? [];
}

function findingIn(chains: readonly HostChain[], reason: HostChainReason) {
  const { link } = HOST_REASON_LINKS[reason];
  for (const chain of chains) {
    const found = chain.links.find((one) => one.link === link)?.findings.find((one) => one.reason === reason);
    if (found !== undefined) return { ...found, brokenAt: chain.brokenAt };
  }
  return undefined;
}

describe('each reason, in a situation that causes it', { timeout: 90_000 }, () => {
  it.concurrent.each(REASONS)('%s', async (reason) => {
    let chains: readonly HostChain[] = [];
    const look = async () => {
      chains = await chainsOf(asked.get(reason) ?? '');
      return findingIn(chains, reason);
    };
    const found = await waitFor(reason, look, 60_000).catch((error: unknown) => {
      throw new Error(JSON.stringify(chains), { cause: error });
    });
    const { link, gravity } = HOST_REASON_LINKS[reason];
    expect(found).toMatchObject({ state: gravity, remedy: HOST_REASONS[reason].remedy });
    if (gravity === 'broken') expect(found.brokenAt, JSON.stringify(chains)).toBe(link);
  });
});

it('there is no other reason', () => {
  expect([...REASONS, ...Object.keys(OF_A_NETWORK)].toSorted()).toEqual(Object.keys(HOST_REASON_LINKS).toSorted());
});
