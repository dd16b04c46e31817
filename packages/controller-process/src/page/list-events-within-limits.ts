/** Lists Events for the page. Anybody who may write Events can make them large and many, so what is read at once and what is kept have limits. */
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject, ListPage } from '@vmdhcp/kube-runtime';
import { AnswerTooLongError, type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { type EventSelection, trimEvent } from '@vmdhcp/status-page';

/** The limit of Events in one list: of more, the first ones are shown. */
const MOST_EVENTS = 20_000;
const FULL_PAGE = 500;
/** A page that is too long is tried again with so many times fewer Events, down to one; the next one may have more again. */
const [TIMES_FEWER, TIMES_MORE] = [10, 5];
/** How many pages are read at most once one was too long: large Events cost time and memory, so only the first ones are read. */
const MOST_PAGES_OF_LARGE = 20;

/**
 * @param connection - with `mostAnswerOctets` for the largest Event: 1.5 MB in etcd, six times that with every octet escaped.
 * @throws what a page fails with.
 */
export async function listEventsWithinLimits(
  connection: ApiConnection,
  selection: EventSelection,
): Promise<readonly KubernetesObject[]> {
  const client = new ApiObjectClient<KubernetesObject>(connection, { ...Resource.events, ...selectorOf(selection) });
  const events: KubernetesObject[] = [];
  let [limit, pages, continueToken]: [number, number, string | undefined] = [FULL_PAGE, Number.POSITIVE_INFINITY, undefined];
  for (; pages > 0 && events.length < MOST_EVENTS; pages--) {
    const page: ListPage<KubernetesObject> | undefined = await client
      .list({ limit, ...(continueToken !== undefined && { continueToken }) })
      .catch(whenTooLong(limit));
    if (page === undefined) {
      [limit, pages] = [Math.max(1, Math.floor(limit / TIMES_FEWER)), Math.min(pages, MOST_PAGES_OF_LARGE)];
      continue;
    }
    events.push(...page.items.map(trimEvent));
    ({ continueToken } = page);
    if (continueToken === undefined) break;
    limit = Math.min(FULL_PAGE, limit * TIMES_MORE);
  }
  return events;
}

/** Undefined if shorter pages may be short enough. */
function whenTooLong(limit: number) {
  return (error: unknown): undefined => {
    const isTooLong = (error as Error).cause instanceof AnswerTooLongError;
    if (!isTooLong || limit === 1) throw error;
    return undefined;
  };
}

function selectorOf({ namespace, kind, name, component }: EventSelection) {
  const fields = { 'involvedObject.kind': kind, 'involvedObject.name': name, source: component };
  const selector = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]));
  return { ...(namespace !== undefined && { namespace }), ...(selector.length > 0 && { fieldSelector: selector.join() }) };
}
