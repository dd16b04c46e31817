import { readText } from '@vmdhcp/kube-runtime';
import colors from 'picocolors';
import type { LiveView } from './live-view.js';
import { type LogRecord, parseLogLine, withReason } from './log-record.js';
import type { Stage } from './story.js';
import { MACHINES } from './story-machines.js';

/** Leases, and what is wrong; not how programs start, nor what each of them records: the story has that in its words. */
export function showLogLine({ view, isClosing }: Stage, who: string, line: string): void {
  if (isClosing()) return;
  const record = parseLogLine(line) ?? { msg: line };
  const { event, mac, address = '', level } = record;
  const machine = MACHINES.find(({ macAddress }) => macAddress === mac)?.name ?? mac;
  if (event !== undefined) view.line(`${colors.green(shortName(who))}: ${event} ${machine} ${address}`);
  else if (level === 'warn' || level === 'error') showTrouble(view, who, record);
}

function showTrouble(view: LiveView, who: string, { msg = '', reason, err }: LogRecord): void {
  view.line(`${colors.yellow(shortName(who))}: ${withReason(msg, reason ?? readText(err, 'message'))}`);
  for (const [words, meaning] of MEANINGS) if (msg.startsWith(words)) view.line(colors.dim(meaning));
}

/** What a person could take for a fault of the product. */
const MEANINGS = [
  [
    'the Lease cannot be read or written',
    'this machine is busy, so the simulated API server was late; nothing is lost, the agent asks again',
  ],
] as const;

/** `agent vx4kp` of `vm-dhcp-controller-agent-5d8f9c-vx4kp`. */
function shortName(who: string): string {
  return who === 'controller' || who === 'webhook' ? who : `agent ${who.split('-').at(-1)}`;
}
