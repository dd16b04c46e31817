/**
 * Handles what a merge patch cannot express: fields of maps that are no longer wanted, and quantities that the API server spells
 * differently.
 */
import { isRecord, type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { isSameQuantity } from './quantity.js';

type Fields = Readonly<Record<string, unknown>>;

/** The same DaemonSet, written so that a patch towards it removes what its WolConfig no longer has. */
export function fitToObserved(wanted: KubernetesObject, observed: KubernetesObject): KubernetesObject {
  const spec = wanted.spec as Fields & { readonly template: Fields & { readonly spec: Fields } };
  const pod = spec.template.spec;
  const observedPod = readField(observed.spec, 'template', 'spec');
  const [container] = readList(pod, 'containers');
  const resources = fitResources(
    readField(container, 'resources'),
    readField(readList(observedPod, 'containers')[0], 'resources'),
  );
  return {
    ...wanted,
    spec: {
      ...spec,
      template: {
        ...spec.template,
        spec: {
          ...pod,
          nodeSelector: withSurplusGone(pod['nodeSelector'], readField(observedPod, 'nodeSelector')),
          containers: [{ ...(container as Fields), resources }],
        },
      },
    },
  };
}

/** Lists are replaced as a whole, so resources are compared instead of merged. */
function fitResources(wanted: unknown, observed: unknown): Fields {
  return Object.fromEntries(
    ['requests', 'limits'].map((part) => {
      const there = readField(observed, part);
      const quantities = withSurplusGone(readField(wanted, part), there);
      if (!isRecord(quantities)) return [part, quantities];
      const fitted = Object.entries(quantities).map(([name, quantity]) => {
        const stored = readField(there, name);
        return [name, quantity !== undefined && isSameQuantity(quantity, stored) ? stored : quantity];
      });
      return [part, Object.fromEntries(fitted)];
    }),
  );
}

/** Sets each field that is observed and not wanted to undefined: it has to be absent. */
function withSurplusGone(wanted: unknown, observed: unknown): unknown {
  if (!isRecord(wanted) || !isRecord(observed)) return wanted;
  return { ...Object.fromEntries(Object.keys(observed).map((name) => [name, undefined])), ...wanted };
}
