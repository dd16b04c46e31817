import { FREE_REPLICAS_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, type MergePatch, planOwnedObject } from '@vmdhcp/kube-runtime';

type OwnedDeploymentPlan =
  /** `patch` is undefined if it is correct. */
  { readonly ok: true; readonly patch: MergePatch | undefined } | { readonly ok: false; readonly message: string };

/**
 * Plans how to correct a Deployment. Fields of others are left alone: annotations, also of the template (`kubectl rollout restart`), labels, the
 * number of replicas if an annotation asks for it, and every field that is not specified, not even as absent.
 */
export function planOwnedDeployment(wanted: KubernetesObject, observed: KubernetesObject): OwnedDeploymentPlan {
  const { replicas: _, ...others } = wanted.spec as Readonly<Record<string, unknown>>;
  const isFree = observed.metadata.annotations?.[FREE_REPLICAS_ANNOTATION] === 'true';
  // Deployments of other clients with this name were sorted out by their labels.
  const plan = planOwnedObject(isFree ? { ...wanted, spec: others } : wanted, observed, { isOwn: () => true });
  if (plan.kind === 'refuse') return { ok: false, message: plan.message };
  return { ok: true, patch: plan.kind === 'patch' ? plan.patch : undefined };
}
