import type { Logger } from '@vmdhcp/service-process';
import type { DecidedReport } from '@vmdhcp/wake-on-lan/controller';
import { expect, it } from 'vitest';
import { createWakeLog } from './wake-log.js';

const REPORT = {
  macAddress: '02:00:00:00:00:0a',
  nodeName: 'node-1',
  sender: '192.0.2.7',
  senderPort: 9,
  packetSize: 102,
  heardAtMs: 0,
};

function start() {
  const lines: [string, Record<string, unknown>, string][] = [];
  let nowMs = 0;
  const level = (name: string) => (fields: Record<string, unknown>, message: string) => lines.push([name, fields, message]);
  const logger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') } as unknown as Logger;
  const log = createWakeLog(logger, () => nowMs);
  return { lines, log, pass: (ms: number) => (nowMs += ms) };
}

it('a report, its start and its answer are lines with the machine, the sender and the node', () => {
  const { lines, log } = start();
  const machine = { namespace: 'lab', name: 'vm-a', currentState: 'Stopped' };
  const verdict = { outcome: 'started', reason: 'start-accepted', message: 'it is being started', machine } as const;
  log.onReport(REPORT);
  log.onStarting('lab/vm-a');
  log.onAnswer({ report: REPORT, verdict, processingTimeMs: 3, sinceHeardMs: 8 } satisfies DecidedReport);
  const about = { mac: REPORT.macAddress, sender: '192.0.2.7', node: 'node-1' };
  expect(lines).toEqual([
    ['info', about, 'Received WOL event via gRPC'],
    ['info', { vm: 'lab/vm-a' }, 'Starting VM'],
    [
      'info',
      {
        ...about,
        outcome: 'started',
        reason: 'start-accepted',
        vm: 'lab/vm-a',
        message: 'it is being started',
        processingTimeMs: 3,
      },
      'wake-up decided',
    ],
  ]);
});

it('a flood causes a hundred lines, then ten a second, with the number of omitted ones', () => {
  const { lines, log, pass } = start();
  for (let count = 0; count < 1_000; count++) log.onReport(REPORT);
  expect(lines).toHaveLength(100);
  pass(100);
  log.onReport(REPORT);
  expect(lines.at(-1)?.[1]).toMatchObject({ linesLeftOut: 900 });
});
