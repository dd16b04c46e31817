import { RedfishError } from '../error/redfish-error.js';
import { naturalOrder } from '../resource/natural-order.js';
import { isResource, linkAt, listAt, numberAt, type RedfishResource, textAt } from '../resource/resource.js';

/** Reads the resource of a link. Only the result of `to` is kept. */
export type ReadLink = <Result>(link: string, to: (resource: RedfishResource) => Result) => Promise<Result>;

/** A member of a collection: the result of `to`; undefined if it is only a link so far. */
export interface Member<Result> {
  readonly link: string | undefined;
  readonly result: Result | undefined;
}

interface Page<Result> {
  readonly members: readonly Member<Result>[];
  readonly next: string | undefined;
  /** The number of members on all pages, as the service states it. */
  readonly count: number;
}

const MOST_PAGES = 200;
const MOST_MEMBERS = 5_000;
/** The number of simultaneous requests to one host. */
const AT_A_TIME = 2;

/** The members of a collection, each as returned by `to`. It follows links and pages, and sorts by link, so that the order is stable. */
export async function readMembers<Result>(
  read: ReadLink,
  collection: string,
  to: (member: RedfishResource) => Result,
): Promise<Result[]> {
  const members = await readPages(read, collection, { to });
  const sorted = members.toSorted((one, other) => naturalOrder(one.link ?? '', other.link ?? ''));
  return readEach(sorted, (member) => readMember(read, member, to));
}

export interface PageSettings<Result> {
  readonly to: (member: RedfishResource) => Result;
  /** Returns how many members are needed of a collection that begins with these; later pages are not read. Default: all. */
  readonly needed?: (members: readonly Member<Result>[]) => number;
}

/**
 * The members of a collection in the order of its pages. A member on two pages is returned once.
 *
 * @throws RedfishError `not-redfish` for pages that form a circle; `too-large` for more than 200 pages or 5,000 members, because a part would look
 * like everything.
 */
export async function readPages<Result>(
  read: ReadLink,
  collection: string,
  { to, needed = () => Number.POSITIVE_INFINITY }: PageSettings<Result>,
): Promise<Member<Result>[]> {
  const members = new Map<string, Member<Result>>();
  const pages = new Set<string>();
  let next: string | undefined = collection;
  while (next !== undefined) {
    refuseEndless(pages, next);
    pages.add(next);
    const page: Page<Result> = await read(next, (resource) => toPage(resource, to));
    for (const member of page.members) members.set(member.link ?? `#${members.size}`, member);
    next = page.next;
    const most = next === undefined ? members.size : needed([...members.values()]);
    if (members.size >= most) break;
    if (Math.min(Math.max(members.size, page.count), most) > MOST_MEMBERS)
      throw new RedfishError('too-large', `a collection has more than ${MOST_MEMBERS} members: ${collection.slice(0, 200)}`);
  }
  return [...members.values()];
}

function toPage<Result>(resource: RedfishResource, to: (member: RedfishResource) => Result): Page<Result> {
  const members = listAt(resource, 'Members').filter(isResource);
  return {
    members: members.map((member) => ({ link: linkAt(member), result: isLinkOnly(member) ? undefined : to(member) })),
    next: textAt(resource, 'Members@odata.nextLink'),
    count: numberAt(resource, 'Members@odata.count') ?? 0,
  };
}

function refuseEndless(pages: ReadonlySet<string>, page: string): void {
  const name = page.slice(0, 200);
  if (pages.has(page)) throw new RedfishError('not-redfish', `the pages of a collection form a circle at ${name}`);
  if (pages.size >= MOST_PAGES) throw new RedfishError('too-large', `a collection has more than ${MOST_PAGES} pages: ${name}`);
}

/** Reads a member that is only a link. */
export async function readMember<Result>(
  read: ReadLink,
  { link, result }: Member<Result>,
  to: (member: RedfishResource) => Result,
): Promise<Result> {
  if (result !== undefined) return result;
  return link === undefined ? to({}) : read(link, to);
}

function isLinkOnly(member: RedfishResource): boolean {
  return Object.keys(member).every((name) => name === '@odata.id');
}

/** Reads several at a time, in order. After a failure no other read begins. */
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
