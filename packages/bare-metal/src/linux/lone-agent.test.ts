import { readConditions } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { clusterAgent } from './hosts-fixtures.js';
import { type Replica, World } from './hosts-world-fixtures.js';

const HOUR_MS = 3_600_000;

/** How often each kind of event deserves a line that is always logged. */
function news(replica: Replica): readonly number[] {
  return (['stepping-down', 'leader', 'leadership-lost'] as const).map(
    (kind) => replica.observer.of(kind).filter((event) => event.isAgain === undefined).length,
  );
}

it.each<[what: string, expected: string, breakIt: (replica: Replica, world: World) => () => void]>([
  [
    'whose interface is down',
    'interface net1 is down',
    (replica) => {
      replica.isUp = false;
      return () => {
        replica.isUp = true;
      };
    },
  ],
  [
    'that cannot record leases',
    'the disk is full',
    (replica) => {
      replica.recordingProblem = 'the disk is full';
      return () => {
        replica.recordingProblem = undefined;
      };
    },
  ],
  [
    'that cannot open its leases',
    'another agent uses it',
    (_, { records }) => {
      records.openedBy = { process: { isDead: false } } as Replica;
      return () => {
        records.openedBy = undefined;
      };
    },
  ],
])(
  'an agent without other replicas %s steps down less and less often, logs it once, and serves when it can',
  async (_, expected, breakIt) => {
    const world = new World();
    world.put(clusterAgent());
    const replica = world.add();
    const mend = breakIt(replica, world);
    await world.clock.advance(HOUR_MS);
    expect(news(replica)).toEqual([1, 1, 0]);
    expect(replica.observer.of('stepping-down').length).toBeLessThan(20);
    expect(replica.lines.filter((line) => line.includes(expected)).length).toBeLessThanOrEqual(1);
    await world.until('the reason', () => replica.machine.unready().some((line) => line.includes(expected)));
    const condition = (status: string) => () =>
      readConditions(world.clusterAgents.objects.get('rack')?.status).find(
        (one) => one.type === 'CannotServe' && one.status === status,
      );
    await world.until('the condition', () => condition('True')() !== undefined);
    expect(condition('True')()).toMatchObject({
      reason: 'HostAgentCannotServe',
      message: expect.stringContaining(expected) as string,
    });
    mend();
    await world.until('clients to be answered', () => replica.machine.isServing());
    await world.until('the condition to be over', () => condition('False')() !== undefined);
    expect(await world.join(1)).toBe('10.0.0.10');
    // Later it is news again.
    await world.clock.advance(60_000);
    breakIt(replica, world);
    if (!expected.includes('another agent')) {
      await world.clock.advance(30_000);
      expect(news(replica)[0]).toBe(2);
    }
  },
);
