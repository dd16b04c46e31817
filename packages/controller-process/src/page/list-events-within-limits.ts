/** Lists Events for the page. Anybody who may write Events can make them large and many, so what is read at once and what is kept have limits. */
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject, ListPage } from '@vmdhcp/kube-runtime';
import { AnswerTooLongError, type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { type EventSelection, trimEvent } from '@vmdhcp/status-page';

/** The limit of Events in one list: of more, the first ones are shown. */
const MOST_EVENTS = 20_000;
const FULL_PAGE = 500;
/** An Event has at most 1.5 MB, as etcd takes no more. */
const SHORT_PAGE = 5;
/** Where Events are so large that a full page is too long, only the first ones are read: they cost time and memory. */
const MOST_SHORT_PAGES = 20;

/** @param connection - with `mostAnswerOctets`. @throws what a page fails with. */
export async function listEventsWithinLimits(
  connection: ApiConnection,
  selection: EventSelection,
): Promise<readonly KubernetesObject[]> {
  const client = new ApiObjectClient<KubernetesObject>(connection, { ...Resource.events, ...selectorOf(selection) });
  const events: KubernetesObject[] = [];
  let [limit, most, continueToken]: [number, number, string | undefined] = [FULL_PAGE, MOST_EVENTS, undefined];
  do {
    const page: ListPage<KubernetesObject> | undefined = await client
      .list({ limit, ...(continueToken !== undefined && { continueToken }) })
      .catch(whenTooLong(limit));
    if (page === undefined) {
      [limit, most] = [SHORT_PAGE, events.length + SHORT_PAGE * MOST_SHORT_PAGES];
      continue;
    }
    events.push(...page.items.map(trimEvent));
    ({ continueToken } = page);
    if (continueToken === undefined) break;
  } while (events.length < most);
  return events;
}

/** Undefined if shorter pages may be short enough. */
function whenTooLong(limit: number) {
  return (error: unknown): undefined => {
    const isTooLong = (error as Error).cause instanceof AnswerTooLongError;
    if (!isTooLong || limit === SHORT_PAGE) throw error;
    return undefined;
  };
}

function selectorOf({ namespace, kind, name, component }: EventSelection) {
  const fields = { 'involvedObject.kind': kind, 'involvedObject.name': name, source: component };
  const selector = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]));
  return { ...(namespace !== undefined && { namespace }), ...(selector.length > 0 && { fieldSelector: selector.join() }) };
}
