/**
 * Every reason that `kubectl vmdhcp why` gives for a virtual machine, each in a situation that a controller of this checkout made: one simulated cluster,
 * all situations at once, with what admission would refuse. A reason that no situation makes is a failure.
 */
import { REASON_GRAVITIES } from '@vmdhcp/reconciler/chain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT_SITUATIONS,
  addCommonPools,
  KubectlPlugin,
  type LabProcess,
  MACHINE_SITUATIONS,
  POOL_SITUATIONS,
  refuseInstances,
  type Situation,
  UNCONTROLLED_SITUATIONS,
  UNIFIED_SITUATIONS,
  WhyCluster,
  waitFor,
} from '../src/index.js';

/** With a controller whose agents have the topology `per-network`. */
const SITUATIONS = [...MACHINE_SITUATIONS, ...POOL_SITUATIONS, ...AGENT_SITUATIONS];
const NETWORKS = ['--service-cidr', '10.96.0.0/16', '--pod-cidr', '10.244.0.0/16', '--api-server-address', '10.7.0.2'];

const plugin = new KubectlPlugin();
let cluster: WhyCluster;
let controller: LabProcess;

beforeAll(async () => {
  cluster = await WhyCluster.start();
  refuseInstances(cluster);
  await cluster.cluster.defineKinds();
  for (const { make, isEarly } of SITUATIONS) if (isEarly) await make?.(cluster);
  const agents = ['--image', 'agent:v1', '--agent-replicas', '1', '--max-pools-per-agent', '200'];
  controller = await cluster.cluster.startController('--namespace', 'vm-dhcp-agents', ...agents, ...NETWORKS);
  await addCommonPools(cluster);
  for (const { make, isEarly } of SITUATIONS) if (!isEarly) await make?.(cluster);
  await cluster.lead();
}, 180_000);

afterAll(async () => {
  plugin.close();
  await cluster?.close();
}, 180_000);

/** Every reason in the answer, wherever it stands. */
async function reasonsOf(subject: string, kubeconfig: string): Promise<readonly string[]> {
  const key = /^\d|\//.test(subject) ? subject : `default/${subject}`;
  const { stdout, stderr } = await plugin.run(kubeconfig, ['why', key, '-o', 'json']);
  expect(stderr).toBe('');
  return [...stdout.matchAll(/"reason": ?"(\w+)"/g)].map(([, reason = '']) => reason);
}

async function shows({ ask, reasons, kubeconfig }: Situation, on = cluster): Promise<void> {
  const reader = (await kubeconfig?.(on)) ?? on.cluster.adminKubeconfig;
  let found: readonly string[] = [];
  await waitFor(
    `${reasons.join(', ')} of ${ask}`,
    async () => {
      found = await reasonsOf(ask, reader);
      return reasons.every((reason) => found.includes(reason));
    },
    60_000,
  ).catch((error: unknown) => {
    throw new Error(`${ask} has ${found.join(', ')}`, { cause: error });
  });
}

describe('each reason, in a situation that makes it', { timeout: 90_000 }, () => {
  it.concurrent.each(SITUATIONS.map((one) => [one.ask, one.reasons, one] as const))('%s: %j', (_ask, _reasons, one) =>
    shows(one),
  );
});

it('without a controller: none renews the Lease, and what it would do next waits', async () => {
  await controller.stop();
  for (const situation of UNCONTROLLED_SITUATIONS) {
    await situation.make?.(cluster);
    await shows(situation);
  }
}, 180_000);

it('with the agents that a chart installs', async () => {
  const chart = await WhyCluster.start();
  try {
    await chart.cluster.startController('--namespace', 'vm-dhcp-agents', '--agent-topology', 'unified');
    for (const situation of UNIFIED_SITUATIONS) {
      await situation.make?.(chart);
      await shows(situation, chart);
    }
  } finally {
    await chart.close();
  }
}, 180_000);

it('there is no other reason', () => {
  const made = [...SITUATIONS, ...UNCONTROLLED_SITUATIONS, ...UNIFIED_SITUATIONS].flatMap(({ reasons }) => reasons);
  expect([...new Set(made)].toSorted()).toEqual(Object.keys(REASON_GRAVITIES).toSorted());
});
