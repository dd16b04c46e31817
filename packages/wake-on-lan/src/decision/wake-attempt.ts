/**
 * One attempt to wake a machine: read it from the API server, decide what a wake-up means for it now, and request that. It is
 * safe to try twice: KubeVirt stores a requested start in the VirtualMachine, so the second attempt finds it there.
 */
import { readText, toRegarding } from '@vmdhcp/kube-runtime';
import { planWakeUp, type WakeUpAction } from '../machine/plan-wake-up.js';
import { machineKey } from '../machine/wake-config.js';
import type { WokenMachine } from '../report/wake-report.js';
import { describeNoAction, describeRefusal, nameOf } from './describe-wake-up.js';
import { readMachineState } from './read-machine-state.js';
import type { CallFailure, LiveMachine, WakePorts } from './wake-ports.js';
import type { WakeReason, WakeVerdict } from './wake-verdict.js';

const CONFLICT = 409;

/** The machine to wake, and the configurations that allow it. */
export interface Wake {
  readonly namespace: string;
  readonly name: string;
  /** The machine as listed: an Event about a machine that cannot be read needs it. */
  readonly uid: string | undefined;
  readonly configs: readonly string[];
  /**
   * Why it should no longer be woken, for people; undefined if it should. @param live - from the API server: news of the machine
   * may be late.
   */
  readonly whyNotAllowed: (live: LiveMachine) => string | undefined;
}

type Ports = Pick<WakePorts, 'readMachine' | 'start' | 'unpause' | 'policyOf' | 'isLeading' | 'leaderAddress' | 'observer'>;

/** The outcome of an attempt. */
export async function attemptWakeUp(wake: Wake, ports: Ports): Promise<WakeVerdict> {
  const seen = await look(wake, ports);
  return 'verdict' in seen ? seen.verdict : carryOut({ wake, ports, isSecond: false }, seen);
}

interface Attempt {
  readonly wake: Wake;
  readonly ports: Ports;
  /** A request was refused before. */
  readonly isSecond: boolean;
}

async function carryOut(attempt: Attempt, seen: Seen): Promise<WakeVerdict> {
  const { wake, ports } = attempt;
  const { action } = seen;
  if (action.kind !== 'start' && action.kind !== 'unpause') return withoutRequest(seen, action);
  // What was read may have taken its time, and another manager may be leader.
  if (!ports.isLeading()) return notLeadingVerdict(ports);
  const why = wake.whyNotAllowed(seen.live);
  if (why !== undefined) return noLongerAllowed(seen, why);
  const key = machineKey(wake);
  if (action.kind === 'start') ports.observer.onStarting(key);
  const result = await (action.kind === 'start' ? ports.start(key) : ports.unpause(key));
  if (result.ok) return succeeded(seen, action.kind);
  return ports.isLeading() ? afterFailure(attempt, { ...seen, kind: action.kind, failure: result }) : notLeadingVerdict(ports);
}

export function notLeadingVerdict({ leaderAddress }: Pick<WakePorts, 'leaderAddress'>): WakeVerdict {
  const leader = leaderAddress();
  return {
    outcome: 'not-leading',
    reason: 'not-leading',
    message: `this manager is not the leader${leader === undefined ? '' : `, which is ${leader}`}`,
  };
}

/** A WolConfig or the machine changed while the machine was read. */
function noLongerAllowed({ machine, live }: Seen, why: string): WakeVerdict {
  const message = `${nameOf(machine)} is not started: ${why}`;
  return { outcome: 'refused', reason: 'no-longer-allowed', message, machine, regarding: regardingOf(live) };
}

interface Seen {
  readonly machine: WokenMachine;
  readonly live: LiveMachine;
  readonly action: WakeUpAction;
}

async function look(wake: Wake, ports: Ports): Promise<Seen | { readonly verdict: WakeVerdict }> {
  const { namespace, name, configs } = wake;
  const read = await ports.readMachine(machineKey(wake));
  if (!read.ok) return { verdict: notRead(wake, read) };
  if (read.machine === undefined) {
    const message = `${nameOf(wake)} no longer exists`;
    return { verdict: { outcome: 'not-found', reason: 'machine-gone', message } };
  }
  const state = readMachineState(read.machine);
  const currentState = readText(read.machine.virtualMachine.status, 'printableStatus') ?? '';
  return {
    machine: { namespace, name, currentState },
    live: read.machine,
    action: planWakeUp(state, ports.policyOf(configs)),
  };
}

function notRead({ namespace, name, uid }: Wake, failure: CallFailure): WakeVerdict {
  const verdict = failed({ namespace, name, currentState: '' }, 'read', failure);
  // A failure that is tried again does not deserve an Event each time.
  if (failure.canRetry || uid === undefined) return verdict;
  return { ...verdict, regarding: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', namespace, name, uid }] };
}

/** A failed start is requested once, and a second time if it lost a race: then the current report of the machine decides. */
async function afterFailure(
  { wake, ports, isSecond }: Attempt,
  { machine, live, kind, failure }: Seen & { readonly kind: 'start' | 'unpause'; readonly failure: CallFailure },
): Promise<WakeVerdict> {
  const verdict = failed(machine, kind, failure);
  const seen = await look(wake, ports);
  if ('verdict' in seen) return { ...verdict, regarding: regardingOf(live) };
  const { action } = seen;
  if (action.kind === 'nothing') {
    // Without a response, it is assumed that the request started it.
    return failure.status === 0 ? succeeded(seen, kind) : withoutRequest(seen, action);
  }
  if (action.kind === 'start' || action.kind === 'unpause') {
    // Source: KubeVirt, virt-api: 409 is also the response if another client changed the machine at that moment, so that
    // "jsonpatch test operation does not apply".
    if (failure.status === CONFLICT && !isSecond) return carryOut({ wake, ports, isSecond: true }, seen);
    return { ...verdict, regarding: regardingOf(seen.live) };
  }
  return withoutRequest(seen, action);
}

function succeeded({ machine, live }: Seen, kind: 'start' | 'unpause'): WakeVerdict {
  const common = { machine, regarding: regardingOf(live) };
  return kind === 'start'
    ? { outcome: 'started', reason: 'start-accepted', message: `${nameOf(machine)} is being started`, ...common }
    : { outcome: 'unpaused', reason: 'unpause-accepted', message: `${nameOf(machine)} was paused, and continues`, ...common };
}

function withoutRequest(
  { machine, live }: Seen,
  action: Exclude<WakeUpAction, { readonly kind: 'start' | 'unpause' }>,
): WakeVerdict {
  const common = { machine, regarding: regardingOf(live) };
  switch (action.kind) {
    case 'wait-until-down': {
      const message = `${nameOf(machine)} is stopping, and will be started when it is down, if that takes at most two minutes`;
      return { outcome: 'waiting', reason: 'stopping', message, ...common };
    }
    case 'nothing': {
      const outcome = action.reason === 'already-running' ? 'running' : 'starting';
      return { outcome, reason: action.reason, message: describeNoAction(machine, action.reason), ...common };
    }
    case 'refuse':
      return { outcome: 'refused', reason: action.reason, message: describeRefusal(machine, action.reason), ...common };
  }
}

function failed(machine: WokenMachine, request: 'read' | 'start' | 'unpause', failure: CallFailure): WakeVerdict {
  const reason = reasonOfStatus(failure);
  const subject = `${nameOf(machine)} cannot be ${DONE[request]}: ${describeFailure(failure)}`;
  const message = failure.canRetry ? `${subject}. The agent will report the wake-up again` : `${subject}. ${remedyOf(reason)}`;
  return { outcome: failure.canRetry ? 'unavailable' : 'failed', reason, message, machine };
}

const DONE = { read: 'read', start: 'started', unpause: 'continued' } as const;

function reasonOfStatus({ status, canRetry }: CallFailure): WakeReason {
  if (canRetry) return 'api-unavailable';
  return REASON_OF_STATUS.get(status) ?? 'invalid';
}

const REASON_OF_STATUS: ReadonlyMap<number, WakeReason> = new Map([
  [401, 'forbidden'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [409, 'conflict'],
]);

function remedyOf(reason: WakeReason): string {
  return REMEDIES.get(reason) ?? 'Correct what the message names, and send the packet again';
}

const REMEDIES: ReadonlyMap<WakeReason, string> = new Map<WakeReason, string>([
  ['forbidden', 'Grant the controller the rights of manifests/vmdhcp.yaml for Wake-on-LAN'],
  [
    'not-found',
    'Check that KubeVirt is installed, and that kubectl get apiservice v1.subresources.kubevirt.io reports Available',
  ],
]);

function describeFailure({ status, message }: CallFailure): string {
  return status === 0 ? `the API server did not answer (${message})` : `the API server answered ${status} (${message})`;
}

function regardingOf({ virtualMachine }: LiveMachine) {
  return [toRegarding(virtualMachine)];
}
