/**
 * Every reason that `kubectl vmdhcp why` gives for a virtual machine, each in a situation that a controller of this checkout made: one simulated cluster,
 * all situations at once, with what admission would refuse: each at its link, as grave as it is there, as what is broken first, and with its remedy. A reason that no
 * situation makes is a failure.
 *
 * @module-tag nightly
 */

import {
  type AddressChain,
  type ChainReason,
  type ClientRecord,
  firstTrouble,
  REASON_GRAVITIES,
  REASON_LINKS,
} from '@vmdhcp/explain';
import { REASONS } from '@vmdhcp/ippool-api/agent';
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

/** What is asserted of a reason in an answer: its link, how grave it is there, and what to do. */
interface Shown {
  readonly reason: string;
  readonly link: string;
  readonly state: string;
  readonly remedy: string;
  /** Reasons at the first link of this way that is broken or waits. */
  readonly first: readonly string[];
}

type Answer = { readonly chain?: AddressChain; readonly records?: readonly ClientRecord[] };

/** Every reason in the answer, in each of its ways. */
function reasonsIn({ chain }: Answer): readonly Shown[] {
  const ways = chain === undefined ? [] : [{ links: chain.links }, ...chain.interfaces];
  return ways.flatMap(({ links }) => {
    const first = firstTrouble(links)?.findings.map(({ reason }) => reason) ?? [];
    return links.flatMap(({ link, findings }) =>
      findings.map(({ reason, state, remedy }) => ({ reason, link, state, remedy, first })),
    );
  });
}

async function answerAbout(subject: string, kubeconfig: string): Promise<Answer> {
  const key = /^\d|\//.test(subject) ? subject : `default/${subject}`;
  const { stdout, stderr } = await plugin.run(kubeconfig, ['why', key, '-o', 'json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Answer;
}

/** At its link, as grave as it is there, with its remedy, and where something is broken, that is what is marked: this reason, or another one of the situation. */
function isAsInTheTable({ reason, link, state, remedy, first }: Shown, { reasons, beside = [], notes = [] }: Situation): boolean {
  const wanted = REASON_LINKS[reason as ChainReason];
  const gravity = notes.includes(reason) ? 'note' : wanted.gravity;
  const isMarked = gravity !== 'broken' || first.some((one) => reasons.includes(one) || beside.includes(one));
  return link === wanted.link && state === gravity && remedy === REASONS[reason as ChainReason].remedy && isMarked;
}

async function shows(situation: Situation, on = cluster): Promise<void> {
  const { ask, reasons, kubeconfig } = situation;
  const reader = (await kubeconfig?.(on)) ?? on.cluster.adminKubeconfig;
  let found: readonly Shown[] = [];
  await waitFor(
    `${reasons.join(', ')} of ${ask}`,
    async () => {
      const answer = await answerAbout(ask, reader);
      found = reasonsIn(answer);
      // An address without a client has no chain, and so no link.
      const ofRecords = answer.chain === undefined ? (answer.records ?? []).flatMap(({ reason }) => reason ?? []) : [];
      return reasons.every(
        (reason) =>
          ofRecords.some((one) => one === reason) || found.some((one) => one.reason === reason && isAsInTheTable(one, situation)),
      );
    },
    60_000,
  ).catch((error: unknown) => {
    throw new Error(`${ask} has ${JSON.stringify(found)}`, { cause: error });
  });
}

describe('each reason, in a situation that causes it', { timeout: 90_000 }, () => {
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
