import { readFileSync } from 'node:fs';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { roleOf } from '../migration-plan/upstream-objects.js';

const MANIFEST = new URL('../../../../manifests/vmdhcp.yaml', import.meta.url);

it('a migration finds the controller and the webhook that the chart installs', () => {
  const objects = parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJS() as KubernetesObject | null);
  const deployments = objects.flatMap((object) => (object?.kind === 'Deployment' ? [object] : []));
  expect(new Set(deployments.map(roleOf))).toEqual(new Set(['own-controller', 'own-webhook']));
});
