import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planReplicas } from './plan-replicas.js';
import { planRollout } from './plan-rollout.js';
import type { RolloutAction } from './rollout.js';
import { rolloutLimits } from './rollout-limits.js';
import { controllerOf, type Deployment, isDeleting, type Pod, type ReplicaSet } from './workload-kinds.js';

const template = (image: string) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'agent', image }] },
});

/** A cluster of one Deployment: the two planners, and Pods that become ready or end on demand. */
class Story {
  deployment: Deployment;
  replicaSets: ReplicaSet[] = [];
  pods: Pod[] = [];
  readonly reports: Deployment[] = [];
  readonly events: string[] = [];
  #serial = 0;
  #seconds = 1_800_000_000;

  constructor(spec: Partial<Deployment['spec']>) {
    this.deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'agent', namespace: 'ns', uid: 'd', generation: 1, annotations: { note: 'kept' } },
      spec: { replicas: 2, selector: { matchLabels: { app: 'agent' } }, template: template('v1'), ...spec },
    };
  }

  change(spec: Partial<Deployment['spec']>): void {
    const { metadata } = this.deployment;
    this.deployment = {
      ...this.deployment,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...this.deployment.spec, ...spec },
    };
    this.settle();
  }

  /** Lets both controllers work until neither has anything to do. */
  settle(): void {
    for (let round = 0; round < 50; round += 1) {
      const planned = [this.#rollout(), ...this.replicaSets.map((set) => this.#replicas(set.metadata.uid ?? ''))];
      if (planned.every((count) => count === 0)) return;
    }
    throw new Error('The plans never become empty.');
  }

  makeReady(): void {
    this.pods = this.pods.map((pod) => (isDeleting(pod) ? pod : withReadiness(pod, 'True')));
    this.settle();
  }

  makeUnready(): void {
    this.pods = this.pods.map((pod) => withReadiness(pod, 'False'));
    this.settle();
  }

  /** One Pod that is not ready becomes ready. */
  makeOneReady(pick: number): void {
    const waiting = this.pods.filter((pod) => !isDeleting(pod) && pod.status === undefined);
    const chosen = waiting[pick % Math.max(1, waiting.length)];
    this.pods = this.pods.map((pod) => (pod === chosen ? withReadiness(pod, 'True') : pod));
    this.settle();
  }

  /** Deleted Pods end. */
  sweep(): void {
    this.pods = this.pods.filter((pod) => !isDeleting(pod));
    this.settle();
  }

  /** Images of the Pods that are not being deleted, with a mark on those that are ready. */
  get running(): string[] {
    return this.pods
      .filter((pod) => !isDeleting(pod))
      .map((pod) => `${pod.spec.containers[0]?.image}${pod.status?.conditions?.some((c) => c.status === 'True') ? '*' : ''}`)
      .toSorted();
  }

  get reasons(): string[] {
    return (this.deployment.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  }

  #rollout(): number {
    const actions = planRollout({ ...this, deployment: this.deployment }, new Date(this.#seconds * 1000));
    for (const action of actions) this.#apply(action);
    return actions.length;
  }

  #apply(action: RolloutAction): void {
    this.#seconds += 1;
    switch (action.kind) {
      case 'create-replica-set': {
        const creationTimestamp = new Date(this.#seconds * 1000).toISOString();
        const metadata = { ...action.replicaSet.metadata, uid: `rs-${++this.#serial}`, generation: 1, creationTimestamp };
        this.replicaSets.push({ ...action.replicaSet, metadata });
        this.events.push(action.event);
        break;
      }
      case 'update-replica-set': {
        const { name } = action.replicaSet.metadata;
        this.replicaSets = this.replicaSets.map((set) => (set.metadata.name === name ? action.replicaSet : set));
        if (action.event) this.events.push(action.event);
        break;
      }
      case 'delete-replica-set':
        this.replicaSets = this.replicaSets.filter((set) => set.metadata.name !== action.name);
        break;
      case 'report':
        this.deployment = action.workload;
        this.reports.push(action.workload);
    }
  }

  #replicas(uid: string): number {
    const set = this.replicaSets.find(({ metadata }) => metadata.uid === uid);
    if (set === undefined) return 0;
    const own = this.pods.filter((pod) => controllerOf(pod)?.uid === uid);
    const plan = planReplicas({ replicaSet: set, pods: own, now: new Date(this.#seconds * 1000) });
    for (const pod of plan.create) this.pods.push({ ...pod, metadata: { ...pod.metadata, name: `pod-${++this.#serial}` } });
    this.pods = this.pods.map((pod) =>
      plan.remove.includes(pod.metadata.name ?? '') ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp: 'now' } } : pod,
    );
    const status = plan.status as ReplicaSet['status'];
    if (status) this.replicaSets = this.replicaSets.map((each) => (each === set ? { ...set, status } : each));
    return plan.create.length + plan.remove.length + (status ? 1 : 0);
  }
}

const withReadiness = (pod: Pod, status: string): Pod => ({
  ...pod,
  status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
});

describe('a rolling update', () => {
  it('creates, completes, rolls, rolls back', () => {
    const story = new Story({});
    story.settle();
    expect(story.running).toEqual(['v1', 'v1']);
    expect(story.reports.map(({ status }) => status)).toMatchObject([
      { conditions: [{ type: 'Progressing', reason: 'NewReplicaSetCreated' }] },
      { observedGeneration: 1, unavailableReplicas: 2, terminatingReplicas: 0 },
      { observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2, terminatingReplicas: 0 },
    ]);
    expect(story.reports[0]?.status?.observedGeneration).toBeUndefined();
    expect(story.deployment.metadata.annotations).toEqual({ note: 'kept', 'deployment.kubernetes.io/revision': '1' });
    const first = story.replicaSets[0];
    expect(first?.metadata.annotations).toEqual({
      note: 'kept',
      'deployment.kubernetes.io/desired-replicas': '2',
      'deployment.kubernetes.io/max-replicas': '3',
      'deployment.kubernetes.io/revision': '1',
    });
    expect(story.reasons).toEqual(['Available=False MinimumReplicasUnavailable', 'Progressing=True ReplicaSetUpdated']);

    story.makeReady();
    expect(story.deployment.status).toMatchObject({
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
    });
    expect(story.deployment.status).not.toHaveProperty('unavailableReplicas');
    expect(story.reasons).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewReplicaSetAvailable']);

    story.change({ template: template('v2') });
    expect(story.running, 'one more than wanted (25 % of 2, rounded up), none less').toEqual(['v1*', 'v1*', 'v2']);
    expect(story.deployment.status).toMatchObject({
      observedGeneration: 2,
      replicas: 3,
      updatedReplicas: 1,
      unavailableReplicas: 1,
    });
    story.makeReady();
    expect(story.running).toEqual(['v1*', 'v2', 'v2*']);
    story.makeReady();
    expect(story.running).toEqual(['v2*', 'v2*']);
    expect(story.deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
    expect(story.replicaSets.map((set) => set.spec.replicas)).toEqual([0, 2]);
    story.sweep();
    expect(story.reasons).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewReplicaSetAvailable']);

    story.change({ template: template('v1') });
    story.makeReady();
    story.makeReady();
    expect(story.running).toEqual(['v1*', 'v1*']);
    expect(story.replicaSets, 'the old ReplicaSet is used again').toHaveLength(2);
    expect(story.replicaSets[0]?.metadata.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/revision-history': '1',
    });
    expect(story.events).toEqual([
      expect.stringMatching(/^Scaled up replica set agent-\S+ from 0 to 2$/),
      expect.stringMatching(/^Scaled up replica set agent-\S+ from 0 to 1$/),
      expect.stringMatching(/^Scaled down replica set agent-\S+ from 2 to 1$/),
      expect.stringMatching(/^Scaled up replica set agent-\S+ from 1 to 2$/),
      expect.stringMatching(/^Scaled down replica set agent-\S+ from 1 to 0$/),
      expect.stringMatching(/^Scaled up replica set agent-\S+ from 0 to 1$/),
      expect.stringMatching(/^Scaled down replica set agent-\S+ from 2 to 1$/),
      expect.stringMatching(/^Scaled up replica set agent-\S+ from 1 to 2$/),
      expect.stringMatching(/^Scaled down replica set agent-\S+ from 1 to 0$/),
    ]);
  });

  it.each([
    ['maxSurge 1, maxUnavailable 0: the new one first', { maxSurge: 1, maxUnavailable: 0 }, 1, ['v1*', 'v2']],
    ['maxSurge 0, maxUnavailable 1: the old one first', { maxSurge: 0, maxUnavailable: 1 }, 1, ['v2']],
    ['both 0 would never end: as maxUnavailable 1', { maxSurge: 0, maxUnavailable: 0 }, 1, ['v2']],
    ['25 % of 4', {}, 4, ['v1*', 'v1*', 'v1*', 'v2', 'v2']],
    ['all at once', { maxSurge: '100%', maxUnavailable: '100%' }, 2, ['v2', 'v2']],
  ])('%s', (_name, rollingUpdate, replicas, running) => {
    const story = new Story({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate } });
    story.settle();
    story.makeReady();
    story.change({ template: template('v2') });
    expect(story.running).toEqual(running);
  });

  it('takes broken old Pods away first', () => {
    const story = new Story({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    story.settle();
    story.change({ template: template('v2') });
    expect(story.running, 'nothing is available, so nothing is lost').toEqual(['v1', 'v2', 'v2']);
  });

  it('keeps no more old ReplicaSets than asked for', () => {
    const story = new Story({ revisionHistoryLimit: 1 });
    story.settle();
    for (const image of ['v2', 'v3', 'v4']) {
      story.change({ template: template(image) });
      for (let round = 0; round < 3; round += 1) story.makeReady();
      story.sweep();
    }
    expect(story.replicaSets.map((set) => set.spec.template.spec.containers[0]?.image)).toEqual(['v3', 'v4']);
  });
});

describe('scaling', () => {
  it('up, down, to nothing', () => {
    const story = new Story({});
    story.settle();
    story.makeReady();
    story.change({ replicas: 4 });
    expect(story.running).toEqual(['v1', 'v1', 'v1*', 'v1*']);
    story.change({ replicas: 1 });
    expect(story.running, 'those that are ready stay').toEqual(['v1*']);
    story.change({ replicas: 0 });
    story.sweep();
    expect(story.running).toEqual([]);
    const { conditions: _conditions, ...counters } = story.deployment.status ?? {};
    expect(counters).toEqual({ observedGeneration: 4, terminatingReplicas: 0 });
  });

  it('in the middle of a rollout keeps the shares', () => {
    const story = new Story({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    story.settle();
    story.makeReady();
    story.change({ template: template('v2') });
    const before = story.replicaSets.map((set) => set.spec.replicas);
    expect(before).toEqual([8, 5]);
    story.change({ replicas: 15 });
    expect(story.replicaSets.map((set) => set.spec.replicas)).toEqual([11, 7]);
  });

  it('works while the Deployment is paused; its template is not rolled out', () => {
    const story = new Story({});
    story.settle();
    story.makeReady();
    story.change({ paused: true, template: template('v2') });
    expect(story.running).toEqual(['v1*', 'v1*']);
    expect(story.reasons).toContain('Progressing=Unknown DeploymentPaused');
    story.change({ replicas: 3 });
    expect(story.running).toEqual(['v1', 'v1*', 'v1*']);
  });
});

it('Recreate starts no new Pod while an old one is there, even one that is being deleted', () => {
  const story = new Story({ replicas: 1, strategy: { type: 'Recreate' } });
  story.settle();
  story.makeReady();
  story.change({ template: template('v2') });
  expect(story.running).toEqual([]);
  story.sweep();
  expect(story.running).toEqual(['v2']);
});

it('a Pod that is ready no more makes the Deployment unavailable', () => {
  const story = new Story({});
  story.settle();
  story.makeReady();
  story.makeUnready();
  expect(story.reasons).toEqual(['Progressing=True NewReplicaSetAvailable', 'Available=False MinimumReplicasUnavailable']);
  expect(story.deployment.status).toMatchObject({ unavailableReplicas: 2 });
});

describe('laws of a rolling update', () => {
  const limits = fc.oneof(fc.nat(4), fc.constantFrom('0%', '25%', '50%', '100%'));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('image' as const), image: fc.constantFrom('v1', 'v2', 'v3') }),
    fc.record({ kind: fc.constant('ready' as const), pick: fc.nat(20) }),
    fc.record({ kind: fc.constant('sweep' as const) }),
  );

  it('neither limit is ever broken, and the end is always reached', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        limits,
        limits,
        fc.array(step, { maxLength: 25, size: 'max' }),
        (replicas, maxSurge, maxUnavailable, steps) => {
          const story = new Story({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } });
          story.settle();
          story.makeReady();
          const { surge, unavailable } = rolloutLimits(story.deployment);
          for (const each of steps) {
            if (each.kind === 'image') story.change({ template: template(each.image) });
            else if (each.kind === 'ready') story.makeOneReady(each.pick);
            else story.sweep();
            expect(story.running.length).toBeLessThanOrEqual(replicas + surge);
            expect(story.running.filter((pod) => pod.endsWith('*')).length).toBeGreaterThanOrEqual(replicas - unavailable);
          }
          for (let round = 0; round < 20; round += 1) story.makeReady();
          story.sweep();
          const image = story.deployment.spec.template.spec.containers[0]?.image;
          expect(story.running).toEqual(Array.from({ length: replicas }, () => `${image}*`));
          expect(story.reasons.toSorted()).toEqual([
            'Available=True MinimumReplicasAvailable',
            'Progressing=True NewReplicaSetAvailable',
          ]);
        },
      ),
      { numRuns: 100 },
    );
  });
});
