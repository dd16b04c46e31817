import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, keyOf, type ObjectClient } from '@vmdhcp/kube-runtime';

/**
 * Reads one VirtualMachineInstance from the API server by a list, because the controller has only the right to list. @throws the errors of the list.
 */
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
    // A page of a selection may be empty although the next one is not: only the whole list shows that there is none.
    ({ continueToken } = page);
  } while (continueToken !== undefined);
  return undefined;
}
