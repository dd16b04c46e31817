/** Computes what a poll of a management controller changes in the status of its host. */

import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import { formatTime, readField } from '@vmdhcp/kube-runtime';
import { readHost } from '../host/read-host.js';
import type { HostEvent } from '../object/host-event.js';
import { readFields, readNonEmptyText } from '../object/read-field.js';
import { cleanInfo, cleanText } from './clean-info.js';
import { type BmcLogEntry, type HealthReport, isWarning } from './health-report.js';
import { formatReported, newEntries, parseReported } from './reported-entries.js';

/** The stored status of a host and a new report about it. */
export interface HealthFacts {
  readonly hostStatus: KubernetesObject;
  readonly report: HealthReport;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /**
   * True if the cause why the host is unhealthy was not reported yet, so that there is an Event although nothing changed.
   * Default: false.
   */
  readonly isNewCause?: boolean;
  /** The number of Events about log entries for one poll, 0 or more; the other entries wait for the next poll. Default: 20. */
  readonly mostLogEvents?: number;
}

/** The patch of a host's status, and the Events about what has changed. */
export interface HealthUpdate {
  /**
   * Written before the patch. Each Event about a log entry has an `identity`: the patch records it in the status; if the patch is
   * lost, the same Event is planned again with the same name.
   */
  readonly events: readonly HostEvent[];
  /** The patch of the status subresource; undefined if nothing changed. */
  readonly patch: MergePatch | undefined;
}

const MOST_LOG_EVENTS = 20;
const MOST_OF_MESSAGE = 900;

/**
 * The Events and the one write that follow from a poll. The information is cleared while the host is unhealthy; what is known
 * about its log stays. Nothing is planned for an object whose status was not completed yet.
 */
export function mergeHealth(facts: HealthFacts): HealthUpdate {
  const { hostStatus, report, nowMs } = facts;
  const host = readHost(hostStatus);
  if (host.clusterAgent === undefined || hostStatus.metadata.deletionTimestamp !== undefined)
    return { events: [], patch: undefined };
  const log = report.kind === 'healthy' && report.log !== undefined ? mergeLog(report.log, facts) : undefined;
  const changed = {
    ...healthFields(report, hostStatus.status),
    ...part('log', log === undefined ? {} : differing(log.fields, readFields(hostStatus.status, 'log'))),
  };
  const isChanged = Object.keys(changed).length > 0;
  return {
    events: [...healthEvents(host.isHealthy, facts), ...(log?.events ?? [])],
    patch: isChanged ? { status: { ...changed, lastUpdateTime: formatTime(nowMs) } } : undefined,
  };
}

function healthFields(report: HealthReport, status: unknown): Fields {
  const isHealthy = report.kind === 'healthy';
  return {
    ...(readField(status, 'healthy') !== isHealthy && { healthy: isHealthy }),
    ...(readField(status, 'healthReady') !== isHealthy && { healthReady: isHealthy }),
    ...part('info', differing(isHealthy ? cleanInfo(report.info) : {}, readFields(status, 'info'))),
  };
}

interface MergedLog {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly events: readonly HostEvent[];
}

function mergeLog(log: readonly BmcLogEntry[], { hostStatus, mostLogEvents = MOST_LOG_EVENTS }: HealthFacts): MergedLog {
  const warnings = log.filter(isWarning);
  const known = parseReported(readNonEmptyText(hostStatus.status, 'log', 'reportedEntries'));
  const { entries, reported } = newEntries(log, known, mostLogEvents);
  return {
    fields: {
      totalLogAccount: log.length,
      warningLogAccount: warnings.length,
      lastestLog: latest(log.at(-1)),
      lastestWarningLog: latest(warnings.at(-1)),
      reportedEntries: formatReported(reported),
    },
    events: entries.map(({ entry, identity }) => ({ ...logEvent(entry, hostStatus), identity })),
  };
}

function latest(entry: BmcLogEntry | undefined): Readonly<Record<string, string>> | undefined {
  return entry && { time: cleanText(entry.time, 64), message: cleanText(entry.message, MOST_OF_MESSAGE) };
}

function logEvent(entry: BmcLogEntry, object: KubernetesObject): HostEvent {
  const severity = cleanText(entry.severity, 32);
  const message = [cleanText(entry.time, 64), severity, cleanText(entry.message, MOST_OF_MESSAGE)]
    .filter((text) => text !== '')
    .join(' ');
  const type = isWarning(entry) ? 'Warning' : 'Normal';
  return { regarding: regarding(object), event: { type, reason: 'BMCLogEntry', message } };
}

/** Only for a change, or a new cause: a host that stays unreachable is in the column HEALTHY, and not in an Event for each poll. */
function healthEvents(wasHealthy: boolean, { hostStatus, report, isNewCause = false }: HealthFacts): HostEvent[] {
  const isHealthy = report.kind === 'healthy';
  if (wasHealthy === isHealthy && (isHealthy || !isNewCause)) return [];
  const event =
    report.kind === 'healthy'
      ? ({ type: 'Normal', reason: 'HostHealthy', message: 'the management controller answers' } as const)
      : ({ type: 'Warning', reason: 'HostUnhealthy', message: cleanText(report.message, MOST_OF_MESSAGE) } as const);
  return [{ regarding: regarding(hostStatus), event }];
}

function regarding({ metadata: { name, uid } }: KubernetesObject) {
  return { kind: 'HostStatus', name, uid } as const;
}

type Fields = Readonly<Record<string, unknown>>;

function part(name: string, changed: Fields): Fields {
  return Object.keys(changed).length === 0 ? {} : { [name]: changed };
}

/** The patch that leaves only these fields; undefined means absent. */
function differing(wanted: Fields, observed: Fields): Fields {
  const names = new Set([...Object.keys(wanted), ...Object.keys(observed)]);
  const changed = [...names].filter((name) => JSON.stringify(sorted(wanted[name])) !== JSON.stringify(sorted(observed[name])));
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

/** Servers sort the fields that they store. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
