/**
 * Reads the entries of one log: all of them, or only the newest if they come first. Some services have journals of a hundred thousand entries beside
 * their event log.
 */
import { RedfishError } from '../error/redfish-error.js';
import type { LogEntry } from '../report/host-report.js';
import { isNewestFirst, MOST_LOG_ENTRIES, toLogEntry } from '../report/log-entries.js';
import type { RedfishResource } from '../resource/resource.js';
import { type Member, type ReadLink, readEach, readMember, readPages } from './members.js';

/** The maximum number of log members that are links, each of which needs a request. */
const MOST_LINKS = 256;

/** At most one link. */
type Entries = readonly LogEntry[];

/** The entries in the order of the service, redacted. @throws RedfishError `too-large` for a log whose newest entries are too far behind. */
export async function readLog(read: ReadLink, link: string, redact: (text: string) => string): Promise<LogEntry[]> {
  const toEntries = (resource: RedfishResource): Entries => {
    const entry = toLogEntry(resource, redact);
    return entry === undefined ? [] : [entry];
  };
  const members = await readPages(read, link, { to: toEntries, needed: neededOf });
  if (members.filter(({ result }) => result === undefined).length > MOST_LINKS)
    throw new RedfishError('too-large', `a log has more than ${MOST_LINKS} entries that are links: ${link.slice(0, 200)}`);
  return (await readEach(members, (member) => readMember(read, member, toEntries))).flat();
}

function neededOf(members: readonly Member<Entries>[]): number {
  const entries = members.flatMap(({ result }) => result ?? []);
  return isNewestFirst(entries) ? MOST_LOG_ENTRIES : Number.POSITIVE_INFINITY;
}
