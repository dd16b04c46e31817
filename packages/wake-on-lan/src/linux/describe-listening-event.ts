import { describePlace, type ListeningEvent } from '../listen/listening-ports.js';
import type { LogLine } from '../report/describe-client-event.js';

/** Describes an event of a listener for the log. */
export function describeListeningEvent(event: ListeningEvent): LogLine {
  switch (event.kind) {
    case 'listening':
      return { level: 'info', message: `listening on ${describePlace(event.place)}` };
    case 'listener-failed':
      return {
        level: 'error',
        message: `not listening on ${describePlace(event.place)}: ${event.error.message}; trying again, and the other listeners continue`,
      };
    case 'interface-lost':
      return {
        level: 'warn',
        message: `interface ${event.interfaceName} is gone, down, or was replaced; its listeners are closed`,
      };
    case 'interface-missing':
      return {
        level: 'warn',
        message: `interface ${event.interfaceName} does not exist, is down, or is not an Ethernet interface; it is used as soon as it is available`,
      };
    case 'interfaces-not-listed':
      return { level: 'error', message: `the interfaces cannot be listed: ${event.error.message}; existing listeners continue` };
  }
}
