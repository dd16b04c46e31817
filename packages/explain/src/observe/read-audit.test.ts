import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { AUDIT_SLOT_NAMES, AUDIT_STATE_NAME, formatAuditState } from '@vmdhcp/reconciler/audit';
import { expect, it } from 'vitest';
import type { ClusterReader } from './cluster-reader.js';
import { readAudit } from './read-audit.js';

const STATE = formatAuditState({ completeUntilMs: 9_000_000, gaps: [{ fromMs: 1_000_000, untilMs: 2_000_000 }] });

async function gapsWith(slots: readonly string[]): Promise<unknown> {
  const configMap = (name: string, data = {}): KubernetesObject & { readonly data: object } => ({ metadata: { name }, data });
  const objects = [configMap(AUDIT_STATE_NAME, { state: STATE }), ...slots.map((name) => configMap(name))];
  const reader = { list: async () => ({ kind: 'listed', objects }) } as unknown as ClusterReader;
  const found = await readAudit(reader, 'agents');
  return found.kind === 'found' ? found.state.gaps : found.kind;
}

it('if one of the ConfigMaps is missing, any record may be: nothing is known', async () => {
  expect(await gapsWith(AUDIT_SLOT_NAMES)).toEqual([{ fromMs: 1_000_000, untilMs: 2_000_000 }]);
  expect(await gapsWith(AUDIT_SLOT_NAMES.slice(1))).toEqual([{ fromMs: 0, untilMs: 9_000_000 }]);
});
