import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { Pod } from '@vmdhcp/kube-simulator';

export interface PodPlace {
  /** `status.podIP`. */
  readonly podAddress: string;
  /** `status.hostIP`; that of the pod by default. */
  readonly hostAddress?: string;
  /** The value of a key of a Secret. */
  readonly readSecret?: (name: string, key: string) => string | undefined;
}

/** The environment of the first container of a pod, with the fields and Secrets that it refers to. */
export function podVariables(pod: Pod, { podAddress, hostAddress = podAddress, readSecret }: PodPlace): Record<string, string> {
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'spec.nodeName': pod.spec.nodeName,
    'status.podIP': podAddress,
    'status.hostIP': hostAddress,
  };
  const resolve = (variable: unknown): string => {
    const field = fields[readText(variable, 'valueFrom', 'fieldRef', 'fieldPath') ?? ''];
    const reference = readField(variable, 'valueFrom', 'secretKeyRef');
    const secret = readSecret?.(readText(reference, 'name') ?? '', readText(reference, 'key') ?? '');
    return readText(variable, 'value') ?? field ?? secret ?? '';
  };
  const [container] = pod.spec.containers;
  return Object.fromEntries(readList(container, 'env').map((one) => [readText(one, 'name') ?? '', resolve(one)]));
}

/** The arguments of the first container of a pod; `$(NAME)` is replaced by a variable. */
export function podArguments(pod: Pod, variables: Readonly<Record<string, string>>): readonly string[] {
  const [container] = pod.spec.containers;
  return readList(container, 'args').map((text) =>
    String(text).replaceAll(/\$\((\w+)\)/g, (_, name: string) => variables[name] ?? ''),
  );
}
