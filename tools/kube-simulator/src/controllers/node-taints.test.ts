import { describe, expect, it } from 'vitest';
import { patienceOf, taintsFor } from './node-taints.js';
import type { Node, Pod, Taint, Toleration } from './workload-kinds.js';

const node = (ready: string | undefined, taints: readonly Taint[] = []): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { taints },
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
});

const own: Taint = { key: 'role', effect: 'NoSchedule' };
const both = (key: string): Taint[] =>
  ['NoSchedule', 'NoExecute'].map((effect) => ({ key: `node.kubernetes.io/${key}`, effect }));

describe('a Node that is', () => {
  it.each<[string, Node, Taint[]]>([
    ['ready has none', node('True', [own, ...both('unreachable')]), [own]],
    ['not ready', node('False', [own]), [own, ...both('not-ready')]],
    ['lost', node('Unknown', both('not-ready')), both('unreachable')],
    ['new keeps what it has', node(undefined, [both('not-ready')[0] as Taint]), [both('not-ready')[0] as Taint]],
  ])('%s', (_name, given, taints) => {
    expect(taintsFor(given, given.spec?.taints ?? [])).toEqual(taints);
    expect(taintsFor(given, taints), 'nothing to do the second time').toBe(taints);
  });
});

describe('a Pod stays', () => {
  const seconds: Toleration = {
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  it.each<[string, Toleration[], Node, number | undefined]>([
    ['as long as it tolerates the loss', [seconds], node('Unknown', both('unreachable')), 300],
    ['not at all', [], node('Unknown', both('unreachable')), 0],
    ['forever, as daemons do', [{ operator: 'Exists' }], node('Unknown', both('unreachable')), undefined],
    ['on a Node that only takes no new ones', [], node('True', [own]), undefined],
  ])('%s', (_name, tolerations, given, patience) => {
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [], tolerations } };
    expect(patienceOf(pod, given)).toBe(patience);
  });
});
