/** Logs peers that the server refuses. A peer controls how often it is refused and the text: lines are omitted and counted. */
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import { RateLimit } from '@vmdhcp/wake-on-lan';
import type { WolServerEvent } from '@vmdhcp/wake-on-lan/service';

/** The limit of lines for each address, or for each kind without an address: a burst, then one in ten seconds. */
const LINES_OF_ONE = { burst: 20, perSecond: 0.1, capacity: 1_000 };
/** The limit for all of them. */
const LINES = { burst: 200, perSecond: 10, capacity: 1 };
const ALL = '';

/** Writes the log of a server. @param nowMs - a monotonic clock. */
export function createServerLog(logger: Logger, nowMs: () => number): (event: WolServerEvent) => void {
  const ofOne = new RateLimit(LINES_OF_ONE);
  const ofAll = new RateLimit(LINES);
  let leftOut = 0;
  return (event) => {
    const key = event.kind === 'connection-refused' ? event.remoteAddress : event.kind;
    if (ofOne.take(key, nowMs()).kind === 'limited' || ofAll.take(ALL, nowMs()).kind === 'limited') {
      leftOut++;
      return;
    }
    const { level, fields, message } = describe(event);
    logger[level]({ ...fields, ...(leftOut > 0 && { linesLeftOut: leftOut }) }, message);
    leftOut = 0;
  };
}

interface Line {
  readonly level: 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function describe(event: WolServerEvent): Line {
  switch (event.kind) {
    case 'connection-refused': {
      const { reason, remoteAddress, message } = event;
      return { level: 'warn', fields: { reason, remoteAddress, message }, message: 'connection of an agent refused' };
    }
    case 'report-malformed':
      return { level: 'warn', fields: { problems: event.problems }, message: 'report of an agent refused' };
    case 'report-failed':
    case 'server-failed':
      return { level: 'error', fields: { err: errorForLog(event.error) }, message: 'the server of Wake-on-LAN failed' };
  }
}
