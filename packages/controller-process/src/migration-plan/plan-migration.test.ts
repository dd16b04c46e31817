import { MIGRATION_HOLDER, parseSuspendedPools, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api';
import { legacyPoolOf } from '@vmdhcp/reconciler';
import { describe, expect, it } from 'vitest';
import {
  addOn,
  afterWrites,
  agentPod,
  definitions,
  lostAgentPod,
  policyRegistration,
  poolOf,
  registration,
  SERVED_HERE,
  SERVED_UPSTREAM,
  settled,
  workload,
} from './migration-fixtures.js';
import { type MigrationObservation, NOTHING_OBSERVED } from './migration-observation.js';
import type { MigrationStep } from './migration-step.js';
import { planMigration } from './plan-migration.js';
import { planWayBack } from './plan-way-back.js';

type Plan = typeof planMigration;
const ids = (plan: Plan, observed: MigrationObservation) => plan(observed).map(({ id }) => id);
const CONTROLLER = 'harvester-system/harvester-vm-dhcp-controller';

describe('planMigration', () => {
  it('stops Harvester’s controller before its pods are replaced, and disables its add-on last', () => {
    expect(ids(planMigration, SERVED_UPSTREAM)).toEqual([
      'back up',
      `stop ${CONTROLLER}`,
      `stop ${CONTROLLER}-webhook`,
      'unregister MutatingWebhookConfiguration upstream-webhook',
      'unregister ValidatingWebhookConfiguration upstream-webhook',
      'define',
      'start harvester-system/vm-dhcp-controller',
      'move default/net',
      `disable ${CONTROLLER}`,
    ]);
  });

  it.each<[what: string, observed: MigrationObservation, expected: readonly string[]]>([
    ['nothing is there', NOTHING_OBSERVED, []],
    ['ours serves, and Harvester’s is at rest', SERVED_HERE, []],
    ['nothing of Harvester’s was ever there', { ...SERVED_HERE, addOns: [], workloads: [workload('own-controller')] }, []],
    ['there is a backup already', { ...SERVED_HERE, addOns: [addOn(true)] }, [`disable ${CONTROLLER}`]],
    [
      'its controller is scaled and its pods still run',
      { ...SERVED_HERE, workloads: [{ ...workload('upstream-controller', 0), pods: 1 }, workload('own-controller')] },
      [`stop ${CONTROLLER}`],
    ],
    [
      'its Deployment is gone, and its webhook is registered',
      { ...SERVED_HERE, workloads: [workload('own-controller')], registrations: [registration('upstream'), registration('own')] },
      ['unregister ValidatingWebhookConfiguration upstream-webhook'],
    ],
    [
      'a pod is gone, and its pool was paused meanwhile',
      {
        ...SERVED_HERE,
        pools: [{ ...poolOf({ agentPodRef: { name: 'p' } }), spec: { networkName: 'default/net', paused: true } }],
      },
      [],
    ],
    [
      'a pool was paused meanwhile, and its pod still serves',
      {
        ...SERVED_HERE,
        agentPods: [agentPod()],
        pools: [{ ...poolOf(), spec: { networkName: 'default/net', paused: true } }],
      },
      ['move default/net'],
    ],
    [
      'a pod is gone, and the new agents do not serve yet',
      { ...SERVED_HERE, pools: [poolOf({ agentPodRef: { name: 'p' } })] },
      ['move default/net'],
    ],
    [
      'the way back was interrupted',
      {
        ...SERVED_HERE,
        workloads: [workload('upstream-controller', 0), workload('own-controller', 0)],
        agentLeases: [{ metadata: { name: 'g' }, spec: { holderIdentity: MIGRATION_HOLDER } }],
      },
      ['release leases', 'start harvester-system/vm-dhcp-controller'],
    ],
    [
      'a pod of a node that is lost stays in Terminating, and the new agents serve',
      { ...SERVED_HERE, agentPods: [...SERVED_HERE.agentPods, lostAgentPod()] },
      [],
    ],
    [
      'a pod ends, and the new agents do not serve yet',
      { ...SERVED_HERE, agentPods: [lostAgentPod()], pools: [poolOf({ agentPodRef: { name: 'p' } })] },
      ['move default/net'],
    ],
    ['a webhook of something else is about IPPools too', { ...SERVED_HERE, registrations: [policyRegistration()] }, []],
    ['definitions of Harvester’s came back', { ...SERVED_HERE, definitions: definitions(false) }, ['define']],
  ])('where %s', (_what, observed, expected) => {
    expect(ids(planMigration, observed)).toEqual(expected);
  });

  it('records the replicas, and says what it waits for', () => {
    const [, stop] = planMigration(SERVED_UPSTREAM);
    expect(stop?.writes).toMatchObject([
      {
        kind: 'patch',
        patch: { metadata: { annotations: { 'network.harvesterhci.io/before-migration': '1' } }, spec: { replicas: 0 } },
      },
    ]);
    const conditions = [{ type: 'AgentReady', status: 'False', reason: 'ImagePull', message: 'no image' }];
    const pool = poolOf({ agentPodRef: { name: 'p' }, agentDeploymentRef: { name: 'g' }, conditions });
    const [move] = planMigration({ ...SERVED_HERE, pools: [pool] });
    expect(move?.waitsFor).toBe('the agents g to serve IPPool default/net (no image)');
  });
});

describe('planWayBack', () => {
  it('removes the server addresses before Harvester’s controller starts, and deletes our agents last', () => {
    expect(ids(planWayBack, { ...SERVED_HERE, registrations: [registration('own')] })).toEqual([
      'stop harvester-system/vm-dhcp-controller',
      'unregister ValidatingWebhookConfiguration own-webhook',
      'prepare default/net',
      'take leases',
      'await addresses',
      'restore ippools.network.harvesterhci.io',
      `enable ${CONTROLLER}`,
      `start ${CONTROLLER}`,
      `start ${CONTROLLER}-webhook`,
      'serve default/net',
      'remove agents vm-dhcp-agents/g',
      'remove rights',
    ]);
  });

  it('waits for the chart of an add-on, but for no pod of a paused pool', () => {
    const paused = { ...poolOf(), spec: { networkName: 'default/net', paused: true } };
    const observed = { ...SERVED_HERE, workloads: [], pools: [paused], agentDeployments: [], agentLeases: [], agentRights: [] };
    expect(ids(planWayBack, observed)).toEqual([
      'restore ippools.network.harvesterhci.io',
      `enable ${CONTROLLER}`,
      'await chart',
    ]);
  });

  it('gives each Lease a holder for a week, then waits for the duration of its last holder, again after a crash', () => {
    const step = planWayBack(SERVED_HERE).find(({ id }) => id === 'take leases');
    expect(step).toMatchObject({
      writes: [{ patch: { spec: { holderIdentity: MIGRATION_HOLDER, leaseDurationSeconds: 604_800 } } }],
    });
    const taken = settled(
      afterWrites({ ...SERVED_HERE, workloads: [workload('upstream-controller', 0)] }, step as MigrationStep),
    );
    const wait = planWayBack(taken).find(({ id }) => id === 'await addresses');
    expect(wait?.settlesMs).toBe(3_000);
    expect(ids(planWayBack, taken).indexOf('await addresses')).toBeLessThan(
      ids(planWayBack, taken).indexOf(`start ${CONTROLLER}`),
    );
    expect(ids(planWayBack, afterWrites(taken, wait as MigrationStep))).not.toContain('await addresses');
  });

  it('enables only the add-on that it disabled, or one without a Deployment to start', () => {
    const never = { ...addOn(false), metadata: { namespace: 'harvester-system', name: 'harvester-vm-dhcp-controller' } };
    expect(ids(planWayBack, { ...SERVED_HERE, addOns: [never] })).not.toContain(`enable ${CONTROLLER}`);
    expect(ids(planWayBack, { ...SERVED_HERE, workloads: [], addOns: [never] })).toContain(`enable ${CONTROLLER}`);
  });

  it('removes addresses from the status that would prevent Harvester’s controller from serving the pool', () => {
    const ipv4 = { allocated: { '10.1.0.10': 'aa', '10.1.0.200': 'bb', '10.1.0.2': 'RESERVED' }, quarantined: {} };
    const observed = { ...SERVED_HERE, pools: [poolOf({ ipv4, servedBy: 'p' })] };
    const step = planWayBack(observed).find(({ id }) => id.startsWith('prepare'));
    expect(step?.writes).toMatchObject([
      {
        kind: 'patch-status',
        patch: { status: { servedBy: null, ipv4: { allocated: { '10.1.0.200': null }, quarantined: null } } },
      },
    ]);
  });

  it('is empty if Harvester’s controller serves and nothing of ours is left', () => {
    expect(ids(planWayBack, { ...SERVED_UPSTREAM, hasBackup: true })).toEqual([]);
  });
});

describe('both directions, killed anywhere', () => {
  it.each<[way: string, plan: Plan, from: MigrationObservation]>([
    ['forward', planMigration, SERVED_UPSTREAM],
    ['back', planWayBack, SERVED_HERE],
  ])('%s: a run that was killed before or after any write is continued, and no step comes twice', (_way, plan, from) => {
    const done: string[] = [];
    let observed = from;
    for (let turn = 0; turn < 100 && plan(observed).length > 0; turn++) {
      const [step] = plan(observed);
      if (step === undefined) break;
      expect(done, 'a step comes back').not.toContain(step.id);
      const written = afterWrites(observed, step);
      // Killed after the writes, before they took effect: it waits, writes nothing again, or is done.
      const [again] = plan(written);
      if (again?.id === step.id) expect(again.writes, step.id).toEqual([]);
      observed = settled(written);
      expect(plan(observed)[0]?.id, `${step.id} has no effect`).not.toBe(step.id);
      done.push(step.id);
    }
    expect(plan(observed)).toEqual([]);
    expect(done.length).toBeGreaterThan(6);
  });

  it('the way back, reversed after any step: our agents get no pool back that a pod of Harvester’s serves', () => {
    const suspendedWith: string[] = [];
    let observed = SERVED_HERE;
    for (let turn = 0; turn < 40 && planWayBack(observed).length > 0; turn++) {
      let turned = observed;
      for (let step = 0; step < 40 && planMigration(turned).length > 0; step++) {
        const [next] = planMigration(turned) as [MigrationStep];
        const leases = afterWrites(turned, next).agentLeases;
        const pods = turned.agentPods.flatMap((pod) => legacyPoolOf(pod) ?? []);
        if (next.id === 'release leases') {
          for (const { metadata } of leases)
            expect([...parseSuspendedPools(metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION])]).toEqual(pods);
          suspendedWith.push(...pods);
        }
        turned = settled(afterWrites(turned, next));
      }
      expect(planMigration(turned)).toEqual([]);
      observed = settled(afterWrites(observed, planWayBack(observed)[0] as MigrationStep));
    }
    expect(suspendedWith).toContain('default/net');
  });

  it('a migration reversed after any step leads to where it began', () => {
    let observed = SERVED_UPSTREAM;
    for (let turn = 0; turn < 20 && planMigration(observed).length > 0; turn++) {
      let turned = observed;
      for (let step = 0; step < 40 && planWayBack(turned).length > 0; step++)
        turned = settled(afterWrites(turned, planWayBack(turned)[0] as ReturnType<Plan>[number]));
      expect(planWayBack(turned)).toEqual([]);
      observed = settled(afterWrites(observed, planMigration(observed)[0] as ReturnType<Plan>[number]));
    }
    expect(planMigration(observed)).toEqual([]);
  });
});
