import type { ObjectClient, WriteResult } from '../api/object-client.js';
import { keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { OwnedObjectPlan } from './plan-owned-object.js';

/**
 * Carries out a plan with at most one write, guarded by the version that was planned for. Undefined if there was nothing to write.
 *
 * If the server refuses, the refusal is the result: pass it to `toReconcileResult`. Pass an accepted answer to `wrote` of the cache.
 */
export async function writePlan(
  client: Pick<ObjectClient<KubernetesObject>, 'create' | 'patch' | 'delete'>,
  plan: OwnedObjectPlan,
): Promise<WriteResult<KubernetesObject | undefined> | undefined> {
  switch (plan.kind) {
    case 'create':
      return await client.create(plan.object);
    case 'patch': {
      const { resourceVersion } = plan.object.metadata;
      return await client.patch({ key: keyOf(plan.object), resourceVersion }, plan.patch);
    }
    case 'delete': {
      const result = await client.delete(keyOf(plan.object), plan.object.metadata.uid ?? '');
      // Already gone is fine.
      return !result.ok && result.reason === 'not-found' ? { ok: true, object: undefined } : result;
    }
    case 'refuse':
    case 'nothing':
      return undefined;
  }
}
