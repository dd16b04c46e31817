import { type KubernetesObject, listAll } from '@vmdhcp/kube-runtime';
import { type ApiObjectClient, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { failedRequest } from './connect.js';

/** Every object; none of a kind that the cluster does not serve. @throws CommandError if the server refuses, or does not answer. */
export async function listIfServed(client: ApiObjectClient<KubernetesObject>): Promise<KubernetesObject[]> {
  try {
    return await listAll(client);
  } catch (error) {
    if (error instanceof ApiRequestError && error.status === 404) return [];
    throw error instanceof ApiRequestError ? failedRequest(error) : error;
  }
}
