import { plainText } from '../resource/describe-answer.js';
import { type RedfishResource, textAt } from '../resource/resource.js';
import type { LogEntry } from './host-report.js';

/** The maximum number of entries of all logs together. */
export const MOST_LOG_ENTRIES = 1_000;
const MOST_OF_MESSAGE = 1_000;
const MOST_OF_FIELD = 256;

/** An entry of a log with a redacted message; the other fields identify and order it. Undefined if it has neither an id nor a message. */
export function toLogEntry(resource: RedfishResource, redact: (text: string) => string): LogEntry | undefined {
  const id = textAt(resource, '@odata.id') ?? textAt(resource, 'Id');
  const message = textAt(resource, 'Message') ?? textAt(resource, 'MessageId');
  if (id === undefined && message === undefined) return undefined;
  const shown = (text: string | undefined, most: number) => plainText(text ?? '', most);
  return {
    id: shown(id, MOST_OF_FIELD),
    time: shown(textAt(resource, 'Created') ?? textAt(resource, 'EventTimestamp'), MOST_OF_FIELD),
    severity: shown(textAt(resource, 'Severity'), MOST_OF_FIELD),
    message: shown(redact(message ?? ''), MOST_OF_MESSAGE),
  };
}

/**
 * The entries of several logs in one list, oldest first, the newest 1,000. Services list the newest entry first or last; the times decide that for a
 * whole log. An entry without a time stays after its predecessor in the log.
 */
export function mergeLogs(logs: readonly (readonly LogEntry[])[]): LogEntry[] {
  return logs
    .flatMap((log) => withTimes(isNewestFirst(log) ? log.toReversed() : log))
    .sort((one, other) => one.timeMs - other.timeMs)
    .slice(-MOST_LOG_ENTRIES)
    .map(({ entry }) => entry);
}

/** True for times that fall from the first entry to the last one. */
export function isNewestFirst(log: readonly LogEntry[]): boolean {
  const times = log.map(({ time }) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return (times.at(0) ?? 0) > (times.at(-1) ?? 0);
}

interface TimedEntry {
  readonly entry: LogEntry;
  readonly timeMs: number;
}

/** The order within a log is kept even if its clock was set back: each entry counts as at least as late as its predecessor. */
function withTimes(log: readonly LogEntry[]): TimedEntry[] {
  let latest = Number.NEGATIVE_INFINITY;
  return log.map((entry) => {
    const time = Date.parse(entry.time);
    if (!Number.isNaN(time)) latest = Math.max(latest, time);
    return { entry, timeMs: latest };
  });
}
