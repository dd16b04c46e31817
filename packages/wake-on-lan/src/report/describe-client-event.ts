import type { WolClientEvent } from './wol-client-event.js';

/** A line of a log: its level and its text. */
export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

/** Describes events of the connection to the manager for the log. */
export function describeClientEvent(event: WolClientEvent): LogLine {
  switch (event.kind) {
    case 'connected':
      return { level: 'info', message: `connected to the manager ${event.address}` };
    case 'disconnected':
      return { level: 'warn', message: `manager ${event.address}: ${event.why}; trying again, and wake-ups wait` };
    case 'certificates-read':
      return { level: 'info', message: 'the certificate for the manager was read' };
    case 'certificates-problem':
      return { level: 'error', message: `the certificate for the manager: ${event.problem}` };
    case 'no-list':
      return {
        level: 'warn',
        message: `the manager ${event.address} has no list of machines: every magic packet is reported, within the limits for senders`,
      };
  }
}
