/** Logs wake-ups. Two lines are the same as in kubevirt-wol; under a flood, lines about reports are omitted and counted. */
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import type { WakeReport } from '@vmdhcp/wake-on-lan';
import { RateLimit } from '@vmdhcp/wake-on-lan';
import type { DecidedReport, WakeObserver } from '@vmdhcp/wake-on-lan/controller';

/** The limit of lines about reports: a burst, then a number per second. */
const LINES = { burst: 100, perSecond: 10, capacity: 1 };
const ALL = '';

type Level = 'debug' | 'info' | 'warn';

const LEVELS: Readonly<Record<DecidedReport['verdict']['outcome'], Level>> = {
  started: 'info',
  unpaused: 'info',
  waiting: 'info',
  starting: 'info',
  running: 'info',
  refused: 'warn',
  failed: 'warn',
  ambiguous: 'warn',
  unavailable: 'warn',
  limited: 'warn',
  abandoned: 'warn',
  malformed: 'warn',
  'not-found': 'info',
  'not-leading': 'debug',
  'not-synced': 'info',
  duplicate: 'debug',
};

/** An observer that writes the log. @param nowMs - a monotonic clock. */
export function createWakeLog(logger: Logger, nowMs: () => number): WakeObserver {
  const limit = new RateLimit(LINES);
  let leftOut = 0;
  const write = (level: Level, fields: Readonly<Record<string, unknown>>, message: string) => {
    if (limit.take(ALL, nowMs()).kind === 'limited') {
      leftOut++;
      return;
    }
    logger[level]({ ...fields, ...(leftOut > 0 && { linesLeftOut: leftOut }) }, message);
    leftOut = 0;
  };
  const decided = (message: string, { report, verdict, processingTimeMs }: DecidedReport) => {
    const { outcome, reason, machine } = verdict;
    const fields = { ...aboutReport(report), outcome, reason, ...(machine && { vm: `${machine.namespace}/${machine.name}` }) };
    write(LEVELS[outcome], { ...fields, message: verdict.message, processingTimeMs }, message);
  };
  return {
    onReport: (report) => write('info', aboutReport(report), 'Received WOL event via gRPC'),
    onStarting: (vm) => logger.info({ vm }, 'Starting VM'),
    onAnswer: (one) => decided('wake-up decided', one),
    onWaitOver: (one) => decided('the wait until a virtual machine is down has ended', one),
    onFault: (error) =>
      logger.error({ err: errorForLog(error) }, 'a wake-up could not be decided; the agent will report it again'),
  };
}

function aboutReport({ macAddress, sender, nodeName }: WakeReport) {
  return { mac: macAddress, sender, node: nodeName };
}
