import { plainText } from '../resource/describe-answer.js';
import { type Resource, textAt } from '../resource/resource.js';
import type { LogEntry } from './host-report.js';

/** Entries of all logs together. */
export const MOST_LOG_ENTRIES = 1_000;
const MOST_OF_MESSAGE = 1_000;
const MOST_OF_FIELD = 256;

/** An entry of a log, whose message is without what `redact` removes: the others tell entries apart and have an order. Undefined for what has neither an id nor a message. */
export function toLogEntry(resource: Resource, redact: (text: string) => string): LogEntry | undefined {
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
 * The entries of several logs in one list, oldest first, the newest 1,000. Services list the newest entry first, or last: times decide for a whole log. An entry without a
 * time stays behind the one that it follows in its log.
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

/** Within one log the order stays, also where its clock was set back: each entry is at least as late as the one before. */
function withTimes(log: readonly LogEntry[]): TimedEntry[] {
  let latest = Number.NEGATIVE_INFINITY;
  return log.map((entry) => {
    const time = Date.parse(entry.time);
    if (!Number.isNaN(time)) latest = Math.max(latest, time);
    return { entry, timeMs: latest };
  });
}
