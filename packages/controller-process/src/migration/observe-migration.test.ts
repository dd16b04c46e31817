import { readFileSync } from 'node:fs';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { roleOf } from '../migration-plan/upstream-objects.js';
import { isLostAgent } from './observe-migration.js';

const MANIFEST = new URL('../../../../manifests/vmdhcp.yaml', import.meta.url);

it('a migration finds the controller and the webhook that the chart installs', () => {
  const objects = parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJS() as KubernetesObject | null);
  const deployments = objects.flatMap((object) => (object?.kind === 'Deployment' ? [object] : []));
  expect(new Set(deployments.map(roleOf))).toEqual(new Set(['own-controller', 'own-webhook']));
});

it('nobody waits for a pod of our agents on a lost node; for one that ends, and for those of Harvester, they do', () => {
  const nowMs = Date.parse('2026-01-01T01:00:00Z');
  const pod = (deletionTimestamp: string, labels: Readonly<Record<string, string>>): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent', labels, deletionTimestamp },
    status: {},
  });
  const ours = { 'network.harvesterhci.io/agent-group': 'mgmt' };
  expect(isLostAgent(pod('2026-01-01T00:00:00Z', ours), nowMs)).toBe(true);
  expect(isLostAgent(pod('2026-01-01T00:59:59Z', ours), nowMs)).toBe(false);
  expect(isLostAgent(pod('2026-01-01T00:00:00Z', {}), nowMs)).toBe(false);
});
