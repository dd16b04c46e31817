import { describe, expect, it } from 'vitest';
import { type InstanceState, type MachineState, planWakeUp, type RunStrategy, type WakeUpAction } from './plan-wake-up.js';

const STRATEGIES: readonly (RunStrategy | undefined)[] = ['Always', 'Halted', 'Manual', 'Once', 'RerunOnFailure', undefined];
const STATES = [
  ...['Stopped', 'Provisioning', 'Starting', 'Running', 'Paused', 'Stopping', 'Terminating', 'CrashLoopBackOff', 'Migrating'],
  ...['Unknown', 'ErrorUnschedulable', 'ErrImagePull', 'ImagePullBackOff', 'ErrorPvcNotFound', 'DataVolumeError'],
  ...['WaitingForVolumeBinding', 'WaitingForReceiver'],
];
const STARTABLE: ReadonlySet<string | undefined> = new Set(['Halted', 'Manual', 'RerunOnFailure']);
const plan = (printableStatus: string | undefined, runStrategy: RunStrategy | undefined, unpauses = false) =>
  planWakeUp({ printableStatus, runStrategy, isBeingDeleted: false }, { unpauses });
const textOf = (action: WakeUpAction) => ('reason' in action ? `${action.kind}: ${action.reason}` : action.kind);

describe('planWakeUp', () => {
  it.each<[string | undefined, RunStrategy | undefined, string]>([
    ['Stopped', 'Halted', 'start'],
    ['Stopped', 'Manual', 'start'],
    ['Stopped', 'RerunOnFailure', 'start'],
    ['Stopped', 'Always', 'nothing: kubevirt-starts-it'],
    ['Stopped', 'Once', 'refuse: runs-only-once'],
    ['Stopped', undefined, 'refuse: run-strategy-unknown'],
    ['Stopping', 'Halted', 'wait-until-down'],
    ['Stopping', 'Manual', 'wait-until-down'],
    ['Stopping', 'RerunOnFailure', 'wait-until-down'],
    ['Stopping', 'Always', 'nothing: kubevirt-starts-it'],
    ['Stopping', 'Once', 'refuse: runs-only-once'],
    // Its volumes are being filled; KubeVirt reports this also for machines that should not run, and starts them when they are
    // full if a start was requested.
    ['Provisioning', 'Halted', 'start'],
    ['Provisioning', 'Manual', 'start'],
    ['Provisioning', 'RerunOnFailure', 'start'],
    ['Provisioning', 'Always', 'nothing: kubevirt-starts-it'],
    ['Provisioning', 'Once', 'nothing: already-starting'],
    ['Provisioning', undefined, 'refuse: run-strategy-unknown'],
  ])('%s with run strategy %s: %s', (state, strategy, expected) => {
    expect(textOf(plan(state, strategy))).toBe(expected);
  });

  it.each([
    ['Running', 'nothing: already-running'],
    ['Migrating', 'nothing: already-running'],
    ['Starting', 'nothing: already-starting'],
    ['WaitingForVolumeBinding', 'nothing: already-starting'],
    ['Paused', 'refuse: paused'],
    ['Terminating', 'refuse: being-deleted'],
    ['ErrorUnschedulable', 'refuse: unschedulable'],
    ['ErrImagePull', 'refuse: image-or-volume-not-ready'],
    ['ImagePullBackOff', 'refuse: image-or-volume-not-ready'],
    ['ErrorPvcNotFound', 'refuse: image-or-volume-not-ready'],
    ['DataVolumeError', 'refuse: image-or-volume-not-ready'],
    ['CrashLoopBackOff', 'refuse: crashes-repeatedly'],
    ['WaitingForReceiver', 'refuse: receives-a-migration'],
    ['Unknown', 'refuse: state-unknown'],
    ['Hibernated', 'refuse: state-unknown'],
    [undefined, 'refuse: state-unknown'],
  ])('%s, whatever the run strategy: %s', (state, expected) => {
    for (const strategy of STRATEGIES) expect(textOf(plan(state, strategy))).toBe(expected);
  });

  it('a paused machine is unpaused if the policy says so', () => {
    for (const strategy of STRATEGIES) expect(plan('Paused', strategy, true)).toEqual({ kind: 'unpause' });
  });

  it.each<[string, Partial<MachineState>, string]>([
    ['Stopped', { startRequested: true }, 'nothing: already-starting'],
    ['Provisioning', { startRequested: true }, 'nothing: already-starting'],
    ['Unknown', { startRequested: true }, 'nothing: already-starting'],
    // KubeVirt restarts it.
    ['Stopping', { startRequested: true, stopRequested: true }, 'nothing: already-starting'],
    ['Running', { startRequested: true, stopRequested: true }, 'nothing: already-starting'],
    ['DataVolumeError', { startRequested: true }, 'refuse: image-or-volume-not-ready'],
    // Its stop was requested, and KubeVirt has not begun it, or has not removed the request. It would refuse a start.
    ['Running', { stopRequested: true }, 'wait-until-down'],
    ['Paused', { stopRequested: true }, 'wait-until-down'],
    ['Stopped', { stopRequested: true }, 'wait-until-down'],
    // The report of the machine is older than its instance.
    ['Stopped', { instance: 'active' }, 'nothing: already-starting'],
    ['Provisioning', { instance: 'active' }, 'nothing: already-starting'],
    ['Stopped', { instance: 'stopping' }, 'wait-until-down'],
    ['Stopped', { instance: 'none' }, 'start'],
    ['Stopped', { instance: 'succeeded' }, 'start'],
    ['Stopped', { instance: 'failed' }, 'start'],
    ['Stopped', { instance: 'failed', runStrategy: 'RerunOnFailure' }, 'nothing: kubevirt-starts-it'],
  ])('%s, run strategy Manual, and %j: %s', (printableStatus, known, expected) => {
    const machine: MachineState = { printableStatus, runStrategy: 'Manual', isBeingDeleted: false, ...known };
    expect(textOf(planWakeUp(machine, { unpauses: false }))).toBe(expected);
  });

  it('a machine that is being deleted is never started, whatever it reports', () => {
    for (const printableStatus of STATES)
      expect(planWakeUp({ printableStatus, runStrategy: 'Manual', isBeingDeleted: true }, { unpauses: true })).toEqual({
        kind: 'refuse',
        reason: 'being-deleted',
      });
  });

  it('law: a machine is started only if it is down, its run strategy allows `start`, no start was requested and it has no instance', () => {
    const instances: readonly (InstanceState | undefined)[] = [undefined, 'none', 'active', 'stopping', 'succeeded', 'failed'];
    for (const printableStatus of STATES) {
      for (const runStrategy of STRATEGIES) {
        for (const instance of instances) {
          for (const startRequested of [true, false]) {
            const machine = {
              printableStatus,
              runStrategy,
              isBeingDeleted: false,
              startRequested,
              ...(instance && { instance }),
            };
            const isDown = printableStatus === 'Stopped' || printableStatus === 'Provisioning';
            const isStartable =
              STARTABLE.has(runStrategy) &&
              !startRequested &&
              instance !== 'active' &&
              instance !== 'stopping' &&
              !(instance === 'failed' && runStrategy === 'RerunOnFailure');
            const { kind } = planWakeUp(machine, { unpauses: true });
            expect(kind === 'start', JSON.stringify(machine)).toBe(isDown && isStartable);
          }
        }
      }
    }
  });
});
