/** What of the objects of bare-metal hosts is cached. */
import { isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';

/** Which ClusterAgent a host belongs to: what its management controller reports and logs need not be cached. */
export function projectHostStatus({ apiVersion, kind, metadata, status }: KubernetesObject): KubernetesObject {
  const { name, uid, resourceVersion } = metadata;
  const clusterAgent = readText(status, 'clusterAgent');
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, uid, resourceVersion },
    ...(clusterAgent !== undefined && { status: { clusterAgent } }),
  };
}

/** Which keys of a Secret have a value: no value stays in memory. */
export function projectSecret(object: KubernetesObject): KubernetesObject {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const data = readField(object, 'data');
  const keys = Object.entries(isRecord(data) ? data : {}).map(([key, value]) => [key, value === '' ? '' : 'set']);
  return { metadata: { namespace, name, uid, resourceVersion }, ...{ data: Object.fromEntries(keys) } } as KubernetesObject;
}
