import type { ApiObjectLike } from '../object/api-object.js';
import type { ResourcePort } from './resource-port.js';

const PAGE = 500;

/**
 * Every object, page by page. @throws what a page fails with.
 *
 * @param most - no further page is read once so many objects were; default: all are read.
 */
export async function listAll<Kind extends ApiObjectLike>(
  port: Pick<ResourcePort<Kind>, 'list'>,
  most: number = Number.POSITIVE_INFINITY,
): Promise<Kind[]> {
  const objects: Kind[] = [];
  let continueToken: string | undefined;
  do {
    const page = await port.list({ limit: PAGE, ...(continueToken !== undefined && { continueToken }) });
    objects.push(...page.items);
    ({ continueToken } = page);
  } while (continueToken !== undefined && objects.length < most);
  return objects;
}
