import { FREE_REPLICAS_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, type MergePatch, mergePatchTowards, readField } from '@vmdhcp/kube-runtime';

export type OwnedDeploymentPlan =
  /** `patch` undefined: it is as it should be. */
  { readonly ok: true; readonly patch: MergePatch | undefined } | { readonly ok: false; readonly message: string };

/**
 * How a Deployment becomes what it should be. What others own is left alone: annotations, also of the template (`kubectl rollout
 * restart`), labels, the number of replicas where an annotation says so, and every field that we do not speak of.
 */
export function planOwnedDeployment(wanted: KubernetesObject, observed: KubernetesObject): OwnedDeploymentPlan {
  const [selector, there] = [wanted, observed].map((deployment) =>
    sortedText(readField(deployment.spec, 'selector', 'matchLabels')),
  );
  if (selector !== there) {
    const { namespace, name } = observed.metadata;
    const message = `the selector of Deployment ${namespace}/${name} is ${there}, and no Deployment's selector can be changed; delete it, and it is made again with ${selector}`;
    return { ok: false, message };
  }
  const { replicas: _, ...others } = wanted.spec as Readonly<Record<string, unknown>>;
  const isFree = observed.metadata.annotations?.[FREE_REPLICAS_ANNOTATION] === 'true';
  const parts = { metadata: { labels: wanted.metadata.labels }, spec: isFree ? others : wanted.spec };
  return { ok: true, patch: mergePatchTowards(parts, observed as unknown as Readonly<Record<string, unknown>>) };
}

function sortedText(labels: unknown): string {
  return JSON.stringify(
    Object.entries(labels ?? {})
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map((pair) => pair.join('=')),
  );
}
