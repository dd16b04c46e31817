import { backOffMs } from '@vmdhcp/kube-runtime';
import type { HealthReport } from '../../health/health-report.js';
import { type HealthUpdate, mergeHealth } from '../../health/merge-health.js';
import { readHost } from '../../host/read-host.js';
import { abortWithin } from '../objects/abort-within.js';
import { attemptWrite } from '../objects/attempt-write.js';
import type { HostObjects } from '../objects/host-objects.js';
import { toHostRegarding } from '../objects/to-host-regarding.js';
import type { HostAgentPorts } from '../ports.js';

/** A report that is being recorded. */
export interface HealthRecording {
  readonly ports: HostAgentPorts;
  readonly objects: HostObjects;
  /** The name of the HostStatus. */
  readonly name: string;
  readonly report: HealthReport;
  /** True if the previous polls had another cause, or there were none. */
  readonly isNewCause: boolean;
  /** Aborted when nothing may be written any longer, or the connection settings of the host changed. */
  readonly ended: AbortSignal;
}

const MOST_ATTEMPTS = 5;
const BACK_OFF = { firstMs: 250, mostMs: 8_000 };

/**
 * Records the result of a poll: Events first, then one write of the status, at the version that was seen; nothing if nothing
 * changed. Log entries whose Event is not stored wait for the next poll.
 * Never rejects. A report that cannot be recorded is given up after five attempts: the next poll has a newer one.
 */
export async function recordHealth(recording: HealthRecording): Promise<void> {
  const stored = new Set<string>();
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const planned = await withEvents(recording, stored, attempt === 1);
    if (planned?.patch === undefined || recording.ended.aborted) return;
    const retryAfterMs = await writePatch(recording, planned, attempt);
    if (retryAfterMs === undefined) return;
    await pause(recording, retryAfterMs);
  }
}

/** What to write once its Events are stored; undefined if the object is gone. @param stored - identities of stored Events. */
async function withEvents(recording: HealthRecording, stored: Set<string>, isFirst: boolean): Promise<Planned | undefined> {
  const planned = plan(recording);
  if (planned === undefined) return undefined;
  const { events } = planned;
  for (const event of events) {
    if (recording.ended.aborted) return undefined;
    const { identity } = event;
    if (identity === undefined) recordOthers(recording, event, isFirst);
    else if (!stored.has(identity)) {
      if (!(await recording.ports.events.recordOnce(toHostRegarding(event), event.event, identity))) break;
      stored.add(identity);
      recording.ports.observer.observe({ kind: 'event', event });
    }
  }
  const ofLog = events.flatMap(({ identity }) => identity ?? []);
  const count = ofLog.filter((identity) => stored.has(identity)).length;
  if (count === ofLog.length) return planned;
  // The status never contains an entry without an Event.
  const fewer = plan(recording, count);
  return fewer && { ...fewer, resourceVersion: planned.resourceVersion };
}

interface Planned extends HealthUpdate {
  readonly resourceVersion: string | undefined;
}

function plan({ ports, objects, name, report, isNewCause }: HealthRecording, mostLogEvents?: number): Planned | undefined {
  const hostStatus = objects.hostStatus(name);
  if (hostStatus === undefined || readHost(hostStatus).clusterAgent !== ports.clusterAgentName) return undefined;
  const most = mostLogEvents === undefined ? {} : { mostLogEvents };
  const update = mergeHealth({ hostStatus, report, isNewCause, nowMs: ports.wallTimeMs(), ...most });
  return { ...update, resourceVersion: hostStatus.metadata.resourceVersion };
}

function recordOthers({ ports }: HealthRecording, event: HealthUpdate['events'][number], isFirst: boolean): void {
  ports.events.record(toHostRegarding(event), event.event);
  if (isFirst) ports.observer.observe({ kind: 'event', event });
}

/** Undefined if it was written. Otherwise the pause before the next attempt, in milliseconds. */
async function writePatch(
  { ports, objects, name }: HealthRecording,
  planned: Planned,
  attempt: number,
): Promise<number | undefined> {
  const { patch = {}, resourceVersion } = planned;
  const outcome = await attemptWrite(() => ports.hostStatuses.patchStatus({ key: name, resourceVersion }, patch));
  if (outcome.ok) {
    objects.wrote('hoststatuses', outcome.object);
    ports.observer.observe({ kind: 'written', write: 'health', name });
    return undefined;
  }
  const retryAfterMs = backOffMs(attempt, { ...BACK_OFF, random: ports.random });
  const { reason, message } = outcome;
  ports.observer.observe({ kind: 'write-failed', write: 'health', name, reason, message, retryAfterMs });
  return retryAfterMs;
}

/** Ends early if the recording is aborted. */
async function pause({ ports, ended }: HealthRecording, delayMs: number): Promise<void> {
  const { signal, release } = abortWithin(ports.clock, delayMs, ended);
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  release();
}
