/** The API objects that store leases, and their names. */
import {
  BARE_METAL_API_VERSION,
  BARE_METAL_GROUP,
  BARE_METAL_VERSION,
  LEASES_OF_LABEL,
} from '@vmdhcp/ippool-api/bare-metal/keys';
import { type KubernetesObject, type ObjectClient, objectNameWithin, type ResourcePort } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';

/** The requests that are sent to the API server: for the LeaseSlices of one ClusterAgent. */
export interface LeaseSlicePorts {
  readonly slices: Pick<ObjectClient<KubernetesObject>, 'get' | 'list' | 'create' | 'patch' | 'delete' | 'guarded'>;
  /** The same objects without their records. */
  readonly versions: Pick<ResourcePort<KubernetesObject>, 'list'>;
}

/** @param connection - use a time limit of a few seconds: clients wait for the responses. */
export function leaseSlicePorts(
  connection: ApiTransport,
  { namespace, clusterAgent }: { readonly namespace: string; readonly clusterAgent: string },
): LeaseSlicePorts {
  const resource = {
    ...{ group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'leaseslices', namespaced: true, namespace },
    labelSelector: `${LEASES_OF_LABEL}=${labelOf(clusterAgent)}`,
  };
  return {
    slices: new ApiObjectClient(connection, resource),
    versions: new ApiObjectClient(connection, { ...resource, metadataOnly: true }),
  };
}

/** The name of a ClusterAgent as a label value. */
export function labelOf(clusterAgent: string): string {
  return objectNameWithin(clusterAgent, { suffix: '', of: clusterAgent, isAmbiguous: false });
}

/** The head: it changes with each write, and lets one agent keep another from writing. */
export function headName(clusterAgent: string): string {
  return objectNameWithin(clusterAgent, { suffix: '-leases', of: clusterAgent, isAmbiguous: false });
}

/** Slices that are written once are numbered by their writer. */
export interface SliceId {
  readonly term: number;
  readonly number: number;
}

/** Unique: each term has one writer, which counts. */
export function sliceName(head: string, { term, number }: SliceId): string {
  return `${head}-${term}-${number}`;
}

/** Undefined if the object is not one of those slices. */
export function sliceIdOf(head: string, name: string): SliceId | undefined {
  if (!name.startsWith(`${head}-`)) return undefined;
  const [, term, number] = /^([1-9]\d*)-(\d+)$/.exec(name.slice(head.length + 1)) ?? [];
  return term === undefined ? undefined : { term: Number(term), number: Number(number) };
}

/** Sorts slices in the order in which they were begun. */
export function compareSliceIds(one: SliceId, other: SliceId): number {
  return one.term - other.term || one.number - other.number;
}

/** The fields that its creator sets. */
export function newSlice(metadata: KubernetesObject['metadata'], spec: object): KubernetesObject {
  return { apiVersion: BARE_METAL_API_VERSION, kind: 'LeaseSlice', metadata, spec };
}
