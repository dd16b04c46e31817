import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { UNIFIED_GROUP } from '../agents/topology.js';
import { deployment, GROUP, lease, legacyPod, NAMESPACE, observing } from './agents-fixtures.js';

const SERVING = { serving: true } as const;
const changesOf = (changes: ReturnType<typeof observing>['changes']) =>
  changes.map((change) => change && `${change.group}: ${[...change.pools].join()}`);

function pod(name: string, more: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  return { kind: 'Pod', metadata: { namespace: NAMESPACE, name, uid: name, labels: { [AGENT_GROUP_LABEL]: GROUP }, ...more } };
}

describe('changes of observed agents', () => {
  it('concern the pools that a Deployment names, and those that it named before', async () => {
    const { changes, deployments, clock, started } = observing();
    await started();
    deployments.put(deployment(['default/a', 'default/b']));
    deployments.put(deployment(['default/b', 'default/c']));
    deployments.remove(`${NAMESPACE}/${GROUP}`);
    await clock.advance(10);
    expect(changesOf(changes)).toEqual([
      `${GROUP}: default/a,default/b`,
      `${GROUP}: default/a,default/b,default/c`,
      `${GROUP}: default/b,default/c`,
    ]);
  });

  it('a renewal of a Lease is not a change; another report, or its end, is', async () => {
    const { changes, leases, clock, started } = observing();
    await started();
    leases.put(lease({ 'default/a': SERVING }, { renewTime: 't1' }));
    leases.put(lease({ 'default/a': SERVING }, { renewTime: 't2' }));
    expect(changesOf(changes)).toEqual([`${GROUP}: default/a`]);
    leases.put(lease({ 'default/b': SERVING }, { renewTime: 't3' }));
    expect(changesOf(changes).slice(1)).toEqual([`${GROUP}: default/a,default/b`]);
    await clock.advance(2_999);
    expect(changes).toHaveLength(2);
    await clock.advance(20);
    expect(changesOf(changes).slice(2)).toEqual([`${GROUP}: default/b`]);
  });

  it('a Lease that is renewed in time does not expire, and one that is renewed late begins again', async () => {
    const { changes, context, leases, clock, started } = observing();
    await started();
    for (let second = 0; second < 10; second++) {
      leases.put(lease({ 'default/a': SERVING }, { renewTime: `t${second}` }));
      await clock.advance(1_000);
    }
    expect([changes.length, context.observed.group(GROUP).lease.isLive]).toEqual([1, true]);
    await clock.advance(3_000);
    expect([changes.length, context.observed.group(GROUP).lease.isLive]).toEqual([2, false]);
    leases.put(lease({ 'default/a': SERVING }, { renewTime: 'late' }));
    expect([changes.length, context.observed.group(GROUP).lease.isLive]).toEqual([3, true]);
  });

  it('a pod of an earlier version names its pool, a pod of a group the group', async () => {
    const { changes, pods, started } = observing();
    await started();
    pods.put(legacyPod('a'));
    pods.put(pod('one'));
    pods.remove(`${NAMESPACE}/one`);
    expect(changesOf(changes).slice(0, 1)).toEqual([expect.stringContaining(': default/a')]);
    expect(changesOf(changes).slice(1)).toEqual([`${GROUP}: `, `${GROUP}: `]);
  });
});

describe('one group', () => {
  it('combines everything that is observed about it', async () => {
    const { context, deployments, leases, started } = observing();
    deployments.put(deployment(['default/a']));
    leases.put(lease({ 'default/b': SERVING }));
    await started();
    expect(context.observed.group(GROUP)).toEqual(context.observed.groups().get(GROUP));
    expect([...context.observed.group(GROUP).configured.keys()]).toEqual(['default/a']);
    expect(context.observed.groupsNaming('default/a')).toEqual([GROUP]);
    expect(context.observed.groupsNaming('default/b')).toEqual([GROUP]);
    expect(context.observed.groupsNaming('default/c')).toEqual([]);
    expect(context.observed.group('unknown')).toMatchObject({ deployment: undefined, lease: { isLive: false } });
    expect(context.observed.group(GROUP).configured).toBe(context.observed.group(GROUP).configured);
  });

  it.each([{ labels: {} }, { labels: undefined }])(
    'a Deployment that only has its name, with %j, is not its Deployment',
    async (metadata) => {
      const { context, deployments, started } = observing();
      const made = deployment(['default/a']);
      deployments.put({ ...made, metadata: { ...made.metadata, ...metadata } as KubernetesObject['metadata'] });
      await started();
      expect(context.observed.group(GROUP).deployment).toBeUndefined();
      expect(context.observed.groups().size).toBe(0);
    },
  );

  it('lists the pods that will stay, newest first', async () => {
    const { context, pods, started } = observing();
    pods.put(pod('old', { creationTimestamp: '2026-01-01T00:00:01Z' }));
    pods.put(pod('new', { creationTimestamp: '2026-01-01T00:00:02Z' }));
    pods.put(pod('ending', { creationTimestamp: '2026-01-01T00:00:03Z', deletionTimestamp: '2026-01-01T00:00:04Z' }));
    pods.put(legacyPod('a'));
    pods.put({ kind: 'Pod', metadata: { namespace: NAMESPACE, name: 'without-labels' } });
    await started();
    expect(context.observed.podsOf(GROUP).map(({ metadata }) => metadata.name)).toEqual(['new', 'old']);
    expect([...context.observed.groupsWithPods()]).toEqual([GROUP]);
    expect([...context.observed.groupsWithEndingPods()]).toEqual([GROUP]);
    expect(context.observed.legacyPodsOf('default/a').map(({ metadata }) => metadata.name)).toEqual(['default-a-agent']);
    expect(context.observed.legacyPodsOf('default/b')).toEqual([]);
    expect(context.observed.groupsNaming('default/a')).toEqual([]);
  });

  it('only pods that are being deleted make a group one with ending pods', async () => {
    const { context, pods, started } = observing();
    pods.put(pod('new', { creationTimestamp: '2026-01-01T00:00:02Z' }));
    await started();
    expect([...context.observed.groupsWithEndingPods()]).toEqual([]);
  });
});

describe('the observation of agents', () => {
  it('is complete once every kind is listed, and a list that fails is reported', async () => {
    const { context, clock, leases, changes, failed } = observing();
    leases.failNext = 1;
    context.observed.start();
    await clock.advance(10);
    expect([context.observed.synced, failed]).toEqual([false, ['leases']]);
    await clock.advance(1_000);
    expect(context.observed.synced).toBe(true);
    // Deployments, the chart's one, Leases, pods.
    expect(changes).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('does not change after the view has stopped', async () => {
    const { context, deployments, leases, changes, clock, started } = observing();
    await started();
    leases.put(lease({ 'default/a': SERVING }));
    expect(changes).toHaveLength(1);
    context.observed.stop();
    deployments.put(deployment(['default/a']));
    await clock.advance(60_000);
    expect(changes).toHaveLength(1);
  });

  it('does not change by a write of a kind that is not watched', async () => {
    const { context, changes, started } = observing();
    await started();
    context.observed.wrote('roles', { kind: 'Role', metadata: { namespace: NAMESPACE, name: GROUP } });
    expect([changes, context.observed.rights().size]).toEqual([[], 0]);
  });
});

describe('the Deployment of a chart', () => {
  const unified = { deploymentName: 'chart', containerName: 'dhcp' };
  /** The chart names the container, and labels as it likes. */
  function chartDeployment(labels?: Readonly<Record<string, string>>): KubernetesObject {
    const made = deployment(['default/a'], 'chart');
    const containers = [{ ...(readList(made.spec, 'template', 'spec', 'containers')[0] as object), name: 'dhcp' }];
    const metadata = { ...made.metadata, labels: labels ?? {} };
    return { ...made, metadata, spec: { template: { spec: { containers } } } };
  }

  it('belongs to the unified group, and to no other', async () => {
    const { context, chart, changes, started } = observing(['pool-1'], { unified });
    await started();
    chart.put(chartDeployment());
    const { observed } = context;
    expect(changesOf(changes)).toEqual([`${UNIFIED_GROUP}: default/a`]);
    expect([...observed.groups().keys()]).toEqual([UNIFIED_GROUP]);
    expect(observed.groupsNaming('default/a')).toEqual([UNIFIED_GROUP]);
    expect(observed.group(UNIFIED_GROUP).deployment?.metadata.name).toBe('chart');
    expect([observed.group(GROUP).deployment, observed.group('chart').deployment]).toEqual([undefined, undefined]);
    expect([observed.containerOf('chart'), observed.containerOf(GROUP)]).toEqual(['dhcp', 'agent']);
  });

  it('belongs to the unified group even if its labels name a group with its name', async () => {
    const { context, chart, deployments, leases, changes, started } = observing(['pool-1'], { unified });
    await started();
    const labelled = chartDeployment(deployment([], 'chart').metadata.labels);
    for (const resource of [chart, deployments]) resource.put(labelled);
    expect(changesOf(changes)).toEqual([`${UNIFIED_GROUP}: default/a`, `${UNIFIED_GROUP}: default/a`]);
    expect([...context.observed.groups().keys()]).toEqual([UNIFIED_GROUP]);
    expect(context.observed.group('chart').deployment).toBeUndefined();
    leases.put(lease({}, { name: 'chart' }));
    expect(changesOf(changes).slice(2), 'a Lease is named after its group').toEqual(['chart: ']);
  });
});

describe('the view of a controller for one namespace', () => {
  it('excludes groups that are configured with pools of other namespaces', async () => {
    const { context, deployments, leases, started } = observing(['pool-1'], {}, 'default');
    deployments.put(deployment(['default/a', 'other/b']));
    leases.put(lease({ 'default/c': SERVING }, { name: 'vm-dhcp-agent-vlan-2' }));
    await started();
    expect([...context.observed.groups().keys()]).toEqual(['vm-dhcp-agent-vlan-2']);
    expect(context.observed.group(GROUP)).toMatchObject({ deployment: undefined, configured: new Map() });
    expect(context.observed.groupsNaming('default/a')).toEqual([]);
    expect(context.observed.groupsNaming('default/c')).toEqual(['vm-dhcp-agent-vlan-2']);
  });
});

describe('a Deployment that was deleted a moment ago', () => {
  it('counts as being deleted before the watch delivers that; a new one with its name does not', async () => {
    const { context, deployments, started } = observing();
    const first = deployment(['default/a']);
    deployments.put(first);
    await started();
    const deletedAt = () => context.observed.group(GROUP).deployment?.metadata.deletionTimestamp;
    context.observed.deleted('deployments', first, undefined);
    expect(deletedAt()).toBe('2026-01-01T00:00:00Z');
    deployments.remove(`${NAMESPACE}/${GROUP}`);
    expect(context.observed.group(GROUP).deployment).toBeUndefined();
    // The same UID: what is marked is forgotten once it was seen to be gone.
    deployments.put(first);
    expect(deletedAt()).toBeUndefined();
  });
});
