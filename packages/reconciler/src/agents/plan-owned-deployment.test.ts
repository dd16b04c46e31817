import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { planOwnedDeployment } from './plan-owned-deployment.js';

const deployment = (replicas: number, metadata: object = {}, app = 'agent'): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'agents', name: 'group', ...metadata },
  spec: { replicas, selector: { matchLabels: { app } } },
});
const annotated = (value: string) => ({ annotations: { 'network.harvesterhci.io/free-replicas': value } });

describe('planOwnedDeployment', () => {
  it.each<readonly [string, KubernetesObject, object | undefined]>([
    ['another number of replicas is corrected', deployment(3), { spec: { replicas: 2 } }],
    ['as it should be, it is left alone', deployment(2), undefined],
    ['another number of replicas stays if an annotation asks for it', deployment(3, annotated('true')), undefined],
    ['an annotation with another value asks for nothing', deployment(3, annotated('false')), { spec: { replicas: 2 } }],
    ['one that is being deleted is left alone', deployment(3, { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined],
  ])('%s', (_, observed, patch) => {
    const plan = planOwnedDeployment(deployment(2), observed);
    expect(plan).toMatchObject({ ok: true, patch });
  });

  it('one with another selector is refused, with the remedy', () => {
    expect(planOwnedDeployment(deployment(2), deployment(2, {}, 'other'))).toEqual({
      ok: false,
      message: expect.stringContaining('delete the Deployment, and it is created again') as string,
    });
  });
});
