/** The requests of the decision to the API server and to KubeVirt's aggregated API, over a separate connection. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type KubernetesObject,
  NotLeadingError,
  type ObjectClient,
  type WriteRefusal,
} from '@vmdhcp/kube-runtime';
import type { CallFailure, CallResult, WakePorts } from './wake-ports.js';

const SUBRESOURCES = { group: 'subresources.kubevirt.io', version: 'v1', namespaced: true } as const;

type Client = Pick<ObjectClient<KubernetesObject>, 'get' | 'subresource'>;

/** HTTP status of a failed request; 0 without a response; undefined for another error, which is a bug. */
export type ReadStatus = (error: unknown) => number | undefined;

/** Makes the requests. @param clientOf - writes only while this process is leader. */
export function kubevirtRequests(
  clientOf: (resource: ApiResource) => Client,
  readStatus: ReadStatus,
): Pick<WakePorts, 'readMachine' | 'start' | 'unpause'> {
  const virtualMachines = clientOf(Resource.virtualMachines);
  const instances = clientOf(Resource.virtualMachineInstances);
  const ofMachines = clientOf({ ...SUBRESOURCES, plural: 'virtualmachines' });
  const ofInstances = clientOf({ ...SUBRESOURCES, plural: 'virtualmachineinstances' });
  return {
    readMachine: async (key) => {
      try {
        const [virtualMachine, instance] = await Promise.all([virtualMachines.get(key), instances.get(key)]);
        return { ok: true, machine: virtualMachine && { virtualMachine, instance } };
      } catch (error) {
        return toFailure(error, readStatus);
      }
    },
    start: (key) => put(ofMachines, { key, name: 'start' }, readStatus),
    unpause: (key) => put(ofInstances, { key, name: 'unpause' }, readStatus),
  };
}

async function put(
  client: Client,
  { key, name }: { readonly key: string; readonly name: string },
  readStatus: ReadStatus,
): Promise<CallResult> {
  try {
    const result = await client.subresource({ key, name, verb: 'update', body: {} });
    if (result.ok) return { ok: true };
    return { ok: false, status: STATUS_OF_REFUSAL[result.reason], message: result.message, canRetry: false };
  } catch (error) {
    return toFailure(error, readStatus);
  }
}

const STATUS_OF_REFUSAL: Readonly<Record<WriteRefusal, number>> = {
  conflict: 409,
  'already-exists': 409,
  'not-found': 404,
  'parent-not-found': 404,
  forbidden: 403,
  invalid: 422,
};

/** Too many requests, missing responses and server errors are worth a retry. */
function toFailure(error: unknown, readStatus: ReadStatus): CallFailure {
  if (error instanceof NotLeadingError) return { ok: false, status: 0, message: error.message, canRetry: true };
  const status = readStatus(error);
  if (status === undefined) throw error;
  return { ok: false, status, message: (error as Error).message, canRetry: status === 0 || status === 429 || status >= 500 };
}
