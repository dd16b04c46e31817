import { describe, expect, it } from 'vitest';
import { planWakeUp, type RunStrategy, type WakeUpAction } from './plan-wake-up.js';

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
  ])('%s with run strategy %s: %s', (state, strategy, expected) => {
    expect(textOf(plan(state, strategy))).toBe(expected);
  });

  it.each([
    ['Running', 'nothing: already-running'],
    ['Migrating', 'nothing: already-running'],
    ['Starting', 'nothing: already-starting'],
    ['Provisioning', 'nothing: already-starting'],
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

  it('a paused machine continues where the policy has it so', () => {
    for (const strategy of STRATEGIES) expect(plan('Paused', strategy, true)).toEqual({ kind: 'unpause' });
  });

  it('a machine that is being deleted is never started, whatever it reports', () => {
    for (const printableStatus of STATES)
      expect(planWakeUp({ printableStatus, runStrategy: 'Manual', isBeingDeleted: true }, { unpauses: true })).toEqual({
        kind: 'refuse',
        reason: 'being-deleted',
      });
  });

  it('law: only a stopped machine whose run strategy allows `start` is started', () => {
    for (const state of STATES) {
      for (const strategy of STRATEGIES) {
        const isStarted = plan(state, strategy, true).kind === 'start';
        expect(isStarted, `${state} ${strategy}`).toBe(state === 'Stopped' && STARTABLE.has(strategy));
      }
    }
  });
});
