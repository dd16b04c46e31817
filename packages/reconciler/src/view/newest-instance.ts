import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, keyOf, type ObjectClient } from '@vmdhcp/kube-runtime';

/** Asks the API server for one VirtualMachineInstance by a list: the right to list is what the controller has. @throws what the list throws. */
export async function readNewestInstance(
  clientOf: (resource: ApiResource) => Pick<ObjectClient<KubernetesObject>, 'list'>,
  key: string,
): Promise<KubernetesObject | undefined> {
  const [namespace = '', name = ''] = key.split('/', 2);
  const one = { ...Resource.virtualMachineInstances, namespace, fieldSelector: `metadata.name=${name}` };
  const client = clientOf(one);
  let continueToken: string | undefined;
  do {
    const page = await client.list({ limit: 500, ...(continueToken !== undefined && { continueToken }) });
    const found = page.items.find((item) => keyOf(item) === key);
    if (found !== undefined) return found;
    // A page of a selection may have no objects although the next one has: only the whole list tells that there is none.
    ({ continueToken } = page);
  } while (continueToken !== undefined);
  return undefined;
}
