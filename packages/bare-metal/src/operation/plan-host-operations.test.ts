import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { formatTime } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { NOW_MS } from '../inventory/inventory-fixtures.js';
import { OperationAttempts, RepeatedOperationError } from './operation-attempts.js';
import { OPERATION_TIMES, type OperationFacts, type OperationPlan } from './operation-plan.js';
import { planHostOperations, planOrphanedOperations } from './plan-host-operations.js';

const RUN = 'agent-pod/run-1';
const host = (name: string, status: object = {}): KubernetesObject => ({
  metadata: { name },
  status: {
    healthy: true,
    clusterAgent: 'agent',
    basic: { type: 'dhcp', ipAddr: '10.0.0.10', port: 443, https: true },
    ...status,
  },
});
const HOST = host('agent-10-0-0-10');
const operation = (status?: object, others: { name?: string; spec?: object; metadata?: object } = {}): KubernetesObject => ({
  metadata: {
    name: others.name ?? 'off',
    uid: `uid-${others.name ?? 'off'}`,
    resourceVersion: '7',
    creationTimestamp: formatTime(NOW_MS - 1_000),
    ...others.metadata,
  },
  spec: { action: 'ForceOff', hostStatusName: 'agent-10-0-0-10', ...others.spec },
  ...(status && { status }),
});
const pending = (startedBy: string | undefined, ageMs = 0) => ({
  status: 'pending',
  startedBy,
  lastUpdateTime: formatTime(NOW_MS - ageMs),
});

function attempted(outcome?: { isSuccess: boolean; message: string }, ageMs = 0): OperationAttempts {
  const attempts = new OperationAttempts();
  attempts.begin('uid-off', NOW_MS - ageMs);
  if (outcome) attempts.end('uid-off', outcome);
  return attempts;
}

const plan = (facts: Partial<OperationFacts>) =>
  planHostOperations({
    clusterAgent: 'agent',
    operations: [],
    hostStatuses: [HOST],
    runId: RUN,
    attempts: new OperationAttempts(),
    nowMs: NOW_MS,
    ...facts,
  });

/** `act off`, `record-result off failure: ...`. */
function shown({ steps, planAgainAtMs }: OperationPlan): string[] {
  const texts = steps.map((step) => {
    const { status } = ('patch' in step ? step.patch : {}) as { status?: { status: string; message: string } };
    return [step.kind, step.name, ...(status === undefined ? [] : [`${status.status}: ${status.message}`])].join(' ');
  });
  return planAgainAtMs === undefined ? texts : [...texts, `again in ${planAgainAtMs - NOW_MS} ms`];
}

const UNKNOWN =
  'It is not known whether the host carried it out, and it is not repeated: look at its power state, and create another HostOperation if needed';

describe('an operation', () => {
  it('that this run recorded as pending and has not begun is not carried out on the machine that has the address since', () => {
    const basic = { type: 'dhcp', ipAddr: '10.0.0.10', macSince: formatTime(NOW_MS - 500) };
    const operations = [operation(pending(RUN))];
    expect(shown(plan({ operations }))).toEqual(['act off']);
    expect(plan({ operations, hostStatuses: [host('agent-10-0-0-10', { basic })] }).steps.map(({ kind }) => kind)).toEqual([
      'record-result',
    ]);
  });

  it.each([
    ['dhcp', -62_000, 'record-pending'],
    ['dhcp', -61_000, 'record-result'],
    ['dhcp', -1_000, 'record-result'],
    ['dhcp', 0, 'record-result'],
    ['hostEndpoint', 0, 'record-pending'],
  ])('whose host (%s) got another MAC address at %i ms, after it was created a second ago: %s', (type, atMs, step) => {
    const basic = { type, ipAddr: '10.0.0.10', port: 443, https: true, macSince: formatTime(NOW_MS + atMs) };
    const { steps } = plan({ operations: [operation()], hostStatuses: [host('agent-10-0-0-10', { basic })] });
    expect(steps.map(({ kind }) => kind)).toEqual([step]);
  });

  it.each([
    ['dhcp', -2_000, ['record-pending off pending: ForceOff of agent-10-0-0-10 (10.0.0.10) begins']],
    ['dhcp', -1_000, ['record-pending off pending: ForceOff of agent-10-0-0-10 (10.0.0.10) begins']],
    [
      'dhcp',
      0,
      [
        'record-result off failure: ForceOff: HostStatus agent-10-0-0-10 is newer than this operation, so the address may belong to another host now. Nothing was done: create another HostOperation if it is still wanted',
      ],
    ],
    ['hostEndpoint', 0, ['record-pending off pending: ForceOff of agent-10-0-0-10 (10.0.0.10) begins']],
  ])('was created for the client that had the address then (%s, created %d ms from now)', (type, bornMs, expected) => {
    const metadata = { name: 'agent-10-0-0-10', creationTimestamp: formatTime(NOW_MS + bornMs) };
    const hostStatuses = [{ ...host('agent-10-0-0-10', { basic: { type, ipAddr: '10.0.0.10' } }), metadata }];
    expect(shown(plan({ operations: [operation()], hostStatuses }))).toEqual(expected);
  });

  it('that fails because the MAC address changed by another clock says when the next one can be carried out', () => {
    const basic = { type: 'dhcp', ipAddr: '10.0.0.10', macSince: formatTime(NOW_MS - 30_000) };
    const hostStatuses = [host('agent-10-0-0-10', { basic })];
    expect(shown(plan({ operations: [operation()], hostStatuses }))).toEqual([
      `record-result off failure: ForceOff: the MAC address of HostStatus agent-10-0-0-10 changed at ${formatTime(NOW_MS - 30_000)}, and this operation was created before, or less than a minute later by another clock, so the address may belong to another host now. Nothing was done: create another HostOperation if it is still wanted, after ${formatTime(NOW_MS + 30_000)}`,
    ]);
    const metadata = { creationTimestamp: formatTime(NOW_MS + 31_000) };
    const next = { operations: [operation(undefined, { metadata })], hostStatuses, nowMs: NOW_MS + 31_000 };
    expect(plan(next).steps).toMatchObject([{ kind: 'record-pending' }]);
  });

  it('is recorded before anything is done, at the version that was seen', () => {
    expect(plan({ operations: [operation()] }).steps).toEqual([
      {
        kind: 'record-pending',
        name: 'off',
        resourceVersion: '7',
        patch: {
          status: {
            status: 'pending',
            message: 'ForceOff of agent-10-0-0-10 (10.0.0.10) begins',
            lastUpdateTime: '2026-01-01T00:00:00Z',
            clusterAgent: 'agent',
            ipAddr: '10.0.0.10',
            startedBy: RUN,
          },
        },
      },
    ]);
  });

  it('acts when this run has recorded it, with all that is needed to reach the host', () => {
    const [step] = plan({ operations: [operation(pending(RUN))] }).steps;
    expect(step).toMatchObject({
      kind: 'act',
      name: 'off',
      uid: 'uid-off',
      action: 'ForceOff',
      host: { address: '10.0.0.10', connection: { port: 443, https: true } },
    });
  });

  it('has an Event with its result', () => {
    const attempts = attempted({ isSuccess: true, message: 'accepted' });
    expect(plan({ operations: [operation(pending(RUN))], attempts }).steps).toMatchObject([
      {
        kind: 'record-result',
        resourceVersion: '7',
        events: [
          {
            regarding: { kind: 'HostOperation', name: 'off' },
            event: { type: 'Normal', reason: 'OperationSucceeded', message: 'accepted' },
          },
        ],
      },
    ]);
    const failed = attempted({ isSuccess: false, message: 'HTTP 400' });
    expect(plan({ operations: [operation(pending(RUN))], attempts: failed }).steps).toMatchObject([
      { events: [{ event: { type: 'Warning', reason: 'OperationFailed' } }] },
    ]);
  });

  const deleted = { metadata: { deletionTimestamp: 'now' } };
  const old = { metadata: { creationTimestamp: formatTime(NOW_MS - OPERATION_TIMES.beginWithinMs) } };
  it.each<[what: string, facts: Partial<OperationFacts>, expected: string[]]>([
    [
      'while it acts: waits for the answer',
      { operations: [operation(pending(RUN))], attempts: attempted(undefined, 1_000) },
      ['again in 59000 ms'],
    ],
    [
      'that has acted, with a stored status from before: records the result',
      { operations: [operation()], attempts: attempted({ isSuccess: true, message: 'accepted' }) },
      ['record-result off success: accepted'],
    ],
    [
      'without an answer: fails',
      { operations: [operation(pending(RUN))], attempts: attempted(undefined, 60_000) },
      [`record-result off failure: ForceOff: no answer within 60 seconds. ${UNKNOWN}`],
    ],
    [
      'that another run recorded a moment ago: waits',
      { operations: [operation(pending('other', 1_000))] },
      ['again in 59000 ms'],
    ],
    [
      'that another run recorded long ago: fails, and never acts',
      { operations: [operation(pending('other', 60_000))] },
      [`record-result off failure: ForceOff: the agent that began it ended before it recorded a result. ${UNKNOWN}`],
    ],
    [
      'that another run recorded by a clock that is ahead: waits',
      { operations: [operation(pending('other', -20_000))] },
      ['again in 80000 ms'],
    ],
    [
      'that another run recorded by a clock that is hours ahead: fails',
      { operations: [operation(pending('other', -9_000_000))] },
      [`record-result off failure: ForceOff: the agent that began it ended before it recorded a result. ${UNKNOWN}`],
    ],
    [
      'that the predecessor left pending: fails, and never acts',
      { operations: [operation({ status: 'pending' })] },
      [`record-result off failure: ForceOff: the agent that began it ended before it recorded a result. ${UNKNOWN}`],
    ],
    [
      'of a host that does not answer: waits',
      { operations: [operation()], hostStatuses: [host('agent-10-0-0-10', { healthy: false })] },
      ['again in 599000 ms'],
    ],
    [
      'of a host that did not answer for ten minutes: fails',
      { operations: [operation(undefined, old)], hostStatuses: [host('agent-10-0-0-10', { healthy: false })] },
      [
        'record-result off failure: ForceOff: no agent reached the management controller of agent-10-0-0-10 (10.0.0.10) within 10 minutes. Nothing was done: create another HostOperation if it is still wanted',
      ],
    ],
    [
      'that no agent saw for ten minutes: fails, as it may be forgotten',
      { operations: [operation(undefined, old)] },
      [
        'record-result off failure: ForceOff: no agent began it within 10 minutes. Nothing was done: create another HostOperation if it is still wanted',
      ],
    ],
    ['that has ended', { operations: [operation({ status: 'success' }), operation({ status: 'failure' })] }, []],
    ['in a state that is not known: is not begun', { operations: [operation({ status: 'failed' })] }, []],
    ['that is being deleted: is not begun', { operations: [operation(undefined, deleted)] }, []],
    [
      'that is being deleted, and was recorded: does not act',
      { operations: [operation(pending(RUN), deleted)] },
      [`record-result off failure: ForceOff: the agent that began it ended before it recorded a result. ${UNKNOWN}`],
    ],
    [
      'of a host of another ClusterAgent',
      { operations: [operation()], hostStatuses: [host('agent-10-0-0-10', { clusterAgent: 'other' })] },
      [],
    ],
    ['of a host that is not there', { operations: [operation()], hostStatuses: [] }, []],
    ['with an action that is not known', { operations: [operation(undefined, { spec: { action: 'Explode' } })] }, []],
    ['without uid', { operations: [operation(undefined, { metadata: { uid: undefined } })] }, []],
  ])('%s', (_, facts, expected) => expect(shown(plan(facts))).toEqual(expected));
});

describe('several operations', () => {
  const at = (name: string, ageMs: number, others: { status?: object; hostStatusName?: string } = {}) =>
    operation(others.status, {
      name,
      spec: { hostStatusName: others.hostStatusName ?? 'agent-10-0-0-10' },
      metadata: { creationTimestamp: formatTime(NOW_MS - ageMs) },
    });
  const names = (operations: KubernetesObject[], hostStatuses = [HOST, host('b')]) =>
    plan({ operations, hostStatuses }).steps.map(({ kind, name }) => `${kind} ${name}`);

  it('one host has one at a time, oldest first', () => {
    expect(names([at('young', 1_000), at('old', 9_000)])).toEqual(['record-pending old']);
    expect(names([at('young', 1_000, { status: pending(RUN) }), at('old', 9_000)]), 'what has begun comes first').toEqual([
      'act young',
    ]);
    expect(names([at('young', 1_000), at('old', 9_000, { status: pending('other') })])).toEqual([]);
  });

  it('two hosts have one each at the same time', () => {
    expect(names([at('one', 1_000), at('two', 2_000, { hostStatusName: 'b' })])).toEqual([
      'record-pending two',
      'record-pending one',
    ]);
  });

  it('a host that does not answer makes none of the others wait', () => {
    expect(
      names(
        [at('one', 2_000), at('two', 1_000, { hostStatusName: 'b' })],
        [host('agent-10-0-0-10', { healthy: false }), host('b')],
      ),
    ).toEqual(['record-pending two']);
  });
});

describe('which operations wait, and until when', () => {
  const second = operation(undefined, { name: 'second', metadata: { creationTimestamp: formatTime(NOW_MS - 500) } });

  it('the next operation of a host waits while one acts, and begins when its result is to be recorded', () => {
    const operations = [operation(pending(RUN)), second];
    expect(shown(plan({ operations, attempts: attempted(undefined, 1_000) }))).toEqual(['again in 59000 ms']);
    const steps = plan({ operations, attempts: attempted({ isSuccess: true, message: 'accepted' }) }).steps;
    expect(steps.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['record-result off', 'record-pending second']);
  });

  it('one that this run has begun comes before an older one, even if its status is seen late', () => {
    const older = operation(undefined, { name: 'older', metadata: { creationTimestamp: formatTime(NOW_MS - 9_000) } });
    expect(shown(plan({ operations: [operation(), older], attempts: attempted(undefined, 1_000) }))).toEqual([
      'again in 59000 ms',
    ]);
  });

  it('the plan is made again for the one that is due first', () => {
    const operations = [operation(pending('other', 1_000)), operation(undefined, { name: 'b', spec: { hostStatusName: 'b' } })];
    const hostStatuses = [HOST, host('b', { healthy: false })];
    expect(shown(plan({ operations, hostStatuses }))).toEqual(['again in 59000 ms']);
    expect(shown(plan({ operations: operations.toReversed(), hostStatuses }))).toEqual(['again in 59000 ms']);
  });

  it('a host without a known address has its name in the message', () => {
    const [step] = plan({
      operations: [operation(undefined, { spec: { hostStatusName: 'web' } })],
      hostStatuses: [host('web', { basic: {} })],
    }).steps;
    expect(step).toMatchObject({ patch: { status: { message: 'ForceOff of web begins', ipAddr: '' } } });
  });
});

describe('operations that no agent accepts', () => {
  const orphans = (operations: KubernetesObject[], nowMs = NOW_MS) =>
    shown(
      planOrphanedOperations({
        operations,
        hostStatuses: [HOST, host('b', { clusterAgent: 'gone' })],
        clusterAgents: ['agent'],
        nowMs,
      }),
    );
  const text = (name: string) =>
    `ForceOff: no agent serves HostStatus "${name}"; correct the name, and create another HostOperation`;

  it.each<[what: string, spec: object, expected: string[]]>([
    ['of a host that exists', {}, []],
    ['of a host that does not exist', { hostStatusName: 'lost' }, [`record-result off failure: ${text('lost')}`]],
    ['of a host whose ClusterAgent is gone', { hostStatusName: 'b' }, [`record-result off failure: ${text('b')}`]],
  ])('%s', (_, spec, expected) => expect(orphans([operation(undefined, { spec })], NOW_MS + 600_000)).toEqual(expected));

  it('end once', () => {
    const ended = operation({ status: 'failure' }, { spec: { hostStatusName: 'lost' } });
    expect(orphans([ended], NOW_MS + 700_000)).toEqual([]);
  });

  it('end at the time that the plan named, in order', () => {
    const lost = operation(undefined, { spec: { hostStatusName: 'lost' } });
    const later = operation(undefined, {
      name: 'later',
      spec: { hostStatusName: 'lost' },
      metadata: { creationTimestamp: formatTime(NOW_MS + 5_000) },
    });
    expect(orphans([later, lost])).toEqual(['again in 599000 ms']);
    expect(orphans([later, lost], NOW_MS + 599_000)).toHaveLength(2);
  });

  it('have the time in which an agent may begin', () => {
    expect(orphans([operation(undefined, { spec: { hostStatusName: 'lost' } })])).toEqual(['again in 599000 ms']);
  });
});

describe('OperationAttempts', () => {
  it('begin nothing twice', () => {
    const attempts = attempted();
    expect(() => attempts.begin('uid-off', NOW_MS)).toThrow(RepeatedOperationError);
    attempts.end('uid-off', { isSuccess: true, message: 'accepted' });
    expect(() => attempts.begin('uid-off', NOW_MS)).toThrow(expect.objectContaining({ code: 'REPEATED_OPERATION' }) as Error);
  });

  it('have the first outcome, and forget operations that no longer exist', () => {
    const attempts = attempted({ isSuccess: true, message: 'accepted' });
    attempts.end('uid-off', { isSuccess: false, message: 'late' });
    attempts.end('never begun', { isSuccess: false, message: 'late' });
    expect([attempts.get('uid-off')?.outcome?.message, attempts.size]).toEqual(['accepted', 1]);
    attempts.keep(new Set(['uid-off']));
    expect(attempts.size).toBe(1);
    attempts.keep(new Set());
    expect(attempts.size).toBe(0);
  });
});
