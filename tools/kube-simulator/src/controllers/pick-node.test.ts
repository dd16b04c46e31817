import { describe, expect, it } from 'vitest';
import { pickNode } from './pick-node.js';
import type { Node, Pod, PodSpec } from './workload-kinds.js';

const node = (name: string, labels: object = {}, spec: NonNullable<Node['spec']> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec,
});

const pod = (spec: Partial<PodSpec> = {}, labels: { [key: string]: string } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', labels },
  spec: { containers: [], ...spec },
});

const required = (key: string, operator: string, ...values: string[]): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }] },
    },
  },
});

const apart: Partial<PodSpec> = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'agent' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
};

const mgmt = { 'network.example.com/mgmt': 'true' };
const taint = { taints: [{ key: 'role', value: 'db', effect: 'NoSchedule' }] };

describe('a Pod goes to', () => {
  it.each<[string, Partial<PodSpec>, Node[], string | undefined]>([
    ['the first Node by name', {}, [node('b'), node('a')], 'a'],
    ['a Node with the labels of its selector', { nodeSelector: mgmt }, [node('a'), node('b', mgmt)], 'b'],
    ['a Node that its affinity requires', required('network.example.com/mgmt', 'In', 'true'), [node('a'), node('b', mgmt)], 'b'],
    ['a Node without a label', required('network.example.com/mgmt', 'DoesNotExist'), [node('a', mgmt), node('b')], 'b'],
    ['a Node by number', required('cores', 'Gt', '4'), [node('a', { cores: '4' }), node('b', { cores: '16' })], 'b'],
    ['no Node with a taint', {}, [node('a', {}, taint), node('b')], 'b'],
    ['a Node whose taint it tolerates', { tolerations: [{ key: 'role', value: 'db' }] }, [node('a', {}, taint)], 'a'],
    ['no cordoned Node', {}, [node('a', {}, { unschedulable: true })], undefined],
    ['no Node at all', {}, [], undefined],
  ])('%s', (_name, spec, nodes, name) => {
    const choice = pickNode(pod(spec), { nodes, pods: [] });
    expect(choice.kind === 'node' ? choice.name : undefined).toBe(name);
  });

  it('a Node that has enough of an extended resource, with the Pods that are there', () => {
    const bridge = 'bridge.network.kubevirt.io/br1';
    const having = (name: string, count: string): Node => ({ ...node(name), status: { allocatable: { [bridge]: count } } });
    const asking = (count: string, nodeName?: string) =>
      pod({ containers: [{ name: 'c', resources: { requests: { cpu: '1', [bridge]: count } } }], ...(nodeName && { nodeName }) });
    const nodes = [node('a'), having('b', '2')];
    const choose = (count: string, pods: Pod[] = []) => pickNode(asking(count), { nodes, pods });
    expect(choose('2')).toEqual({ kind: 'node', name: 'b' });
    expect(choose('1', [asking('1', 'b')])).toEqual({ kind: 'node', name: 'b' });
    for (const choice of [choose('3'), choose('2', [asking('1', 'b')])])
      expect(choice).toMatchObject({ message: expect.stringContaining(`0/2 nodes are available: 2 Insufficient ${bridge}.`) });
    expect(pickNode(asking('900'), { nodes: [having('c', '1k')], pods: [] })).toEqual({ kind: 'node', name: 'c' });
  });

  it('the Node with the fewest Pods', () => {
    const pods = [pod({ nodeName: 'a' })];
    expect(pickNode(pod(), { nodes: [node('a'), node('b')], pods })).toEqual({ kind: 'node', name: 'b' });
  });

  it('a Node away from its like, whichever of them asks for it', () => {
    const nodes = [node('a'), node('b')];
    const labels = { app: 'agent' };
    const there = pod({ nodeName: 'a' }, labels);
    const elsewhere = pod({ nodeName: 'b' });
    expect(pickNode(pod(apart, labels), { nodes, pods: [there, elsewhere, elsewhere] })).toEqual({ kind: 'node', name: 'b' });
    const repelling = pod({ nodeName: 'a', ...apart }, labels);
    expect(pickNode(pod({}, labels), { nodes, pods: [repelling, elsewhere, elsewhere] })).toEqual({ kind: 'node', name: 'b' });
    expect(pickNode(pod(apart, labels), { nodes: [node('a')], pods: [there] }).kind).toBe('none');
  });

  it('or nowhere, with the reasons counted', () => {
    const nodes = [node('a'), node('b'), node('c', mgmt, taint)];
    expect(pickNode(pod({ nodeSelector: mgmt }), { nodes, pods: [] })).toEqual({
      kind: 'none',
      message:
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    });
  });
});
