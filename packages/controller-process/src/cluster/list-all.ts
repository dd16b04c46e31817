import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type ApiObjectClient, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

const PAGE = 500;

/** Lists all objects, page by page; none if the cluster does not have the kind. @throws CommandError if the server refuses. */
export async function listAll(client: ApiObjectClient<KubernetesObject>): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  try {
    let continueToken: string | undefined;
    do {
      const page = await client.list({ limit: PAGE, ...(continueToken !== undefined && { continueToken }) });
      objects.push(...page.items);
      ({ continueToken } = page);
    } while (continueToken !== undefined);
    return objects;
  } catch (error) {
    if (error instanceof ApiRequestError && error.status === 404) return [];
    throw error instanceof ApiRequestError ? new CommandError(error.message, ExitCode.failed, { cause: error }) : error;
  }
}
