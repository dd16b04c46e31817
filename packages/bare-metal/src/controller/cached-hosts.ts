/** Which parts of the objects of bare-metal hosts are cached. */
import { Resource } from '@vmdhcp/ippool-api/resources';
import { isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';

/** The cached parts of the kinds of bare-metal hosts, by plural. */
export const CACHED_HOST_PARTS: Readonly<Record<string, (object: KubernetesObject) => KubernetesObject>> = {
  [Resource.hostStatuses.plural]: projectHostStatus,
  [Resource.secrets.plural]: projectSecret,
};

/** Only which ClusterAgent a host belongs to: reports and logs of its management controller need not be cached. */
function projectHostStatus({ apiVersion, kind, metadata, status }: KubernetesObject): KubernetesObject {
  const { name, uid, resourceVersion } = metadata;
  const clusterAgent = readText(status, 'clusterAgent');
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, uid, resourceVersion },
    ...(clusterAgent !== undefined && { status: { clusterAgent } }),
  };
}

/** Only which keys of a Secret have a value: no value stays in memory. */
function projectSecret(object: KubernetesObject): KubernetesObject {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const data = readField(object, 'data');
  const keys = Object.entries(isRecord(data) ? data : {}).map(([key, value]) => [key, value === '' ? '' : 'set']);
  return { metadata: { namespace, name, uid, resourceVersion }, ...{ data: Object.fromEntries(keys) } } as KubernetesObject;
}
