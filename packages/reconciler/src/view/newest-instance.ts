import { type ApiResource, type KubernetesObject, keyOf, type ObjectClient } from '@vmdhcp/kube-runtime';
import { Resource } from '../resources.js';

/** Asks the API server for one VirtualMachineInstance by a list: the right to list is what the controller has. @throws what the list throws. */
export async function readNewestInstance(
  clientOf: (resource: ApiResource) => Pick<ObjectClient<KubernetesObject>, 'list'>,
  key: string,
): Promise<KubernetesObject | undefined> {
  const [namespace = '', name = ''] = key.split('/', 2);
  const one = { ...Resource.virtualMachineInstances, namespace, fieldSelector: `metadata.name=${name}` };
  const { items } = await clientOf(one).list({ limit: 500 });
  return items.find((item) => keyOf(item) === key);
}
