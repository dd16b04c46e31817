import { describe, expect, it } from 'vitest';
import { type DaemonSources, planDaemons, planRevision } from './plan-daemons.js';
import type { DaemonSet, Node, Pod } from './workload-kinds.js';

const daemonSet: DaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'wol', namespace: 'ns', uid: 'd', generation: 1 },
  spec: {
    selector: { matchLabels: { app: 'wol' } },
    template: { metadata: { labels: { app: 'wol' } }, spec: { hostNetwork: true, nodeSelector: { wol: 'yes' }, containers: [] } },
  },
};

const node = (name: string, wol = 'yes', taints: readonly { key: string; effect: string }[] = []): Node => {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { wol } }, spec: { taints } };
};

const pod = (nodeName: string, over: { hash?: string; ready?: string; deletionTimestamp?: string } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `on-${nodeName}`,
    labels: { 'controller-revision-hash': over.hash ?? 'new' },
    ...(over.deletionTimestamp ? { deletionTimestamp: over.deletionTimestamp } : {}),
  },
  spec: { nodeName, containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: over.ready ?? 'True' }] },
});

const sources = (over: Partial<DaemonSources>): DaemonSources => ({
  daemonSet,
  pods: [],
  nodes: [],
  hash: 'new',
  now: new Date(0),
  ...over,
});

describe('daemons', () => {
  it('without Nodes: every required counter is there', () => {
    expect(JSON.stringify(planDaemons(sources({})))).toBe(
      '{"create":[],"remove":[],"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0,"observedGeneration":1}}',
    );
  });

  it('run once on every Node that takes them, cordoned and unready ones too', () => {
    const unready = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }];
    const nodes = [node('a'), node('b', 'no'), node('c', 'yes', unready), node('d', 'yes', [{ key: 'x', effect: 'NoSchedule' }])];
    const { create } = planDaemons(sources({ nodes }));
    expect(create).toMatchObject([
      {
        metadata: {
          generateName: 'wol-',
          labels: { app: 'wol', 'controller-revision-hash': 'new', 'pod-template-generation': '1' },
        },
      },
      {},
    ]);
    const terms = create.map(
      (p) => p.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    );
    expect(terms).toEqual(
      ['a', 'c'].map((name) => [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }]),
    );
    expect(create[0]?.spec.tolerations?.map(({ key }) => key)).toContain('node.kubernetes.io/network-unavailable');
  });

  it('count', () => {
    const nodes = [node('a'), node('b'), node('c')];
    const pods = [pod('a'), pod('b', { ready: 'False' }), pod('gone')];
    expect(planDaemons(sources({ nodes, pods }))).toMatchObject({
      create: [{}],
      remove: ['on-gone'],
      status: {
        currentNumberScheduled: 2,
        numberMisscheduled: 1,
        desiredNumberScheduled: 3,
        numberReady: 1,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
        numberUnavailable: 2,
      },
    });
  });

  it.each<[string, Pod[], string[]]>([
    ['one at a time', [pod('a', { hash: 'old' }), pod('b', { hash: 'old' })], ['on-a']],
    ['none while another is unavailable', [pod('a', { ready: 'False' }), pod('b', { hash: 'old' })], []],
    ['broken ones at once', [pod('a', { hash: 'old', ready: 'False' }), pod('b', { hash: 'old' })], ['on-a']],
    ['not before the old one is gone', [pod('a', { hash: 'old', deletionTimestamp: 'now' }), pod('b', { hash: 'old' })], []],
  ])('are replaced %s', (_name, pods, remove) => {
    const plan = planDaemons(sources({ nodes: [node('a'), node('b')], pods }));
    expect(plan.remove).toEqual(remove);
    expect(plan.create).toEqual([]);
  });

  it('are not replaced with OnDelete', () => {
    const onDelete = { ...daemonSet, spec: { ...daemonSet.spec, updateStrategy: { type: 'OnDelete' } } };
    expect(planDaemons(sources({ daemonSet: onDelete, nodes: [node('a')], pods: [pod('a', { hash: 'old' })] })).remove).toEqual(
      [],
    );
  });
});

describe('the revision of a template', () => {
  const revision = (name: string, number: number, uid: string) => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'wol', uid, controller: true }],
    },
    revision: number,
  });

  it('is created with the number after the highest of its own DaemonSet, and holds the template', () => {
    const revisions = [revision('wol-1', 1, 'd'), revision('wol-2', 2, 'd'), revision('other-9', 9, 'another')];
    expect(planRevision({ daemonSet, revisions }, 'new')).toMatchObject({
      metadata: {
        name: 'wol-new',
        labels: { app: 'wol', 'controller-revision-hash': 'new' },
        ownerReferences: [{ kind: 'DaemonSet', uid: 'd', controller: true }],
      },
      data: { spec: { template: { ...daemonSet.spec.template, $patch: 'replace' } } },
      revision: 3,
    });
  });

  it('is created once', () => {
    expect(planRevision({ daemonSet, revisions: [revision('wol-new', 1, 'd')] }, 'new')).toBeUndefined();
  });
});
