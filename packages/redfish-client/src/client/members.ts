import { RedfishError } from '../error/redfish-error.js';
import { naturalOrder } from '../resource/natural-order.js';
import { isResource, linkAt, listAt, numberAt, type Resource, textAt } from '../resource/resource.js';

/** Reads the resource of a link. */
export type ReadLink = (link: string) => Promise<Resource>;

const MOST_PAGES = 200;
const MOST_MEMBERS = 5_000;
/** Requests at the same time for one host. */
const AT_A_TIME = 2;

/** The members of a collection, each as a resource: links are followed, pages too. Sorted by link, so that the order is that of the last call. */
export async function readMembers(read: ReadLink, collection: string): Promise<Resource[]> {
  const members = (await readPages(read, collection)).toSorted((one, other) =>
    naturalOrder(linkAt(one) ?? '', linkAt(other) ?? ''),
  );
  return readEach(members, (member) => readMember(read, member));
}

/**
 * The members of a collection as its pages have them: links, or whole resources. A member that stands on two pages is there once.
 *
 * @param needed - of a collection that begins with these members, so many are needed; the pages after them are not read. Default: all.
 * @throws RedfishError `not-redfish` for pages that form a circle; `too-large` for more than 200 pages or 5,000 members: a part would look like all.
 */
export async function readPages(
  read: ReadLink,
  collection: string,
  needed: (members: readonly Resource[]) => number = () => Number.POSITIVE_INFINITY,
): Promise<Resource[]> {
  const members = new Map<string, Resource>();
  const pages = new Set<string>();
  let page: string | undefined = collection;
  while (page !== undefined) {
    refuseEndless(pages, page);
    pages.add(page);
    const resource: Resource = await read(page);
    for (const member of listAt(resource, 'Members').filter(isResource))
      members.set(linkAt(member) ?? `#${members.size}`, member);
    page = textAt(resource, 'Members@odata.nextLink');
    const most = page === undefined ? members.size : needed([...members.values()]);
    if (members.size >= most) break;
    const count = Math.max(members.size, numberAt(resource, 'Members@odata.count') ?? 0);
    if (Math.min(count, most) > MOST_MEMBERS)
      throw new RedfishError('too-large', `a collection has more than ${MOST_MEMBERS} members: ${collection.slice(0, 200)}`);
  }
  return [...members.values()];
}

function refuseEndless(pages: ReadonlySet<string>, page: string): void {
  const name = page.slice(0, 200);
  if (pages.has(page)) throw new RedfishError('not-redfish', `the pages of a collection form a circle at ${name}`);
  if (pages.size >= MOST_PAGES) throw new RedfishError('too-large', `a collection has more than ${MOST_PAGES} pages: ${name}`);
}

/** A member that is only a link is read. */
export async function readMember(read: ReadLink, member: Resource): Promise<Resource> {
  const link = linkAt(member);
  return link !== undefined && isLinkOnly(member) ? read(link) : member;
}

export function isLinkOnly(member: Resource): boolean {
  return Object.keys(member).every((name) => name === '@odata.id');
}

/** Reads several at a time, in their order. After a failure no other one begins. */
export async function readEach<Item, Result>(items: readonly Item[], read: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await read(items[index] as Item);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, items.length) }, work));
  return results;
}
