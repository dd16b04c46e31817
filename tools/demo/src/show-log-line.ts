import colors from 'picocolors';
import { parseLogLine, withReason } from './log-record.js';
import type { Stage } from './story.js';
import { MACHINES } from './story-machines.js';

/** Leases, and what is wrong; not how programs start, nor what each of them records: the story has that in its words. */
export function showLogLine({ view, isClosing }: Stage, who: string, line: string): void {
  if (isClosing()) return;
  const { msg = line, event, mac, address = '', level, reason } = parseLogLine(line) ?? {};
  const machine = MACHINES.find(({ macAddress }) => macAddress === mac)?.name ?? mac;
  if (event !== undefined) view.line(`${colors.green(shortName(who))}: ${event} ${machine} ${address}`);
  else if (level === 'warn' || level === 'error') view.line(`${colors.yellow(shortName(who))}: ${withReason(msg, reason)}`);
}

/** `agent vx4kp` of `vm-dhcp-controller-agent-5d8f9c-vx4kp`. */
function shortName(who: string): string {
  return who === 'controller' || who === 'webhook' ? who : `agent ${who.split('-').at(-1)}`;
}
