import { describe, expect, it } from 'vitest';
import { advance, defaultBackOff, type PodCommand, type PodEvent, type PodRun, startRun } from './pod-run.js';

/** Goes through the events and returns the commands of each. */
const live = (restartPolicy: string, ...events: PodEvent[]): { run: PodRun; commands: string[] } => {
  let run = startRun(0);
  const commands = events.map((event) => {
    const next = advance(run, event, { restartPolicy, backOff: defaultBackOff });
    run = next.run;
    return next.commands.map(describeCommand).join();
  });
  return { run, commands };
};

const describeCommand = (command: PodCommand): string => {
  switch (command.kind) {
    case 'wait':
      return `wait ${command.delayMs / 1000} s`;
    case 'stop':
      return `stop within ${command.graceSeconds} s`;
    case 'start':
    case 'remove':
      return command.kind;
  }
};

const exited = (exitCode: number, atMs = 1): PodEvent => ({ kind: 'exited', exitCode, atMs });
const waited: PodEvent = { kind: 'back-off-over', atMs: 2 };
const ready: PodEvent = { kind: 'ready', atMs: 1 };
const deletion: PodEvent = { kind: 'deletion', graceSeconds: 30, atMs: 3 };

describe('a Pod', () => {
  it('that crashes is started again, at once and then later and later', () => {
    const crashes = Array.from({ length: 8 }, () => [exited(1), waited]).flat();
    const { run, commands } = live('Always', ...crashes);
    expect(commands.filter((command) => command !== 'start')).toEqual(
      [0, 10, 20, 40, 80, 160, 300, 300].map((seconds) => `wait ${seconds} s`),
    );
    expect(run).toMatchObject({ stage: 'starting', ready: false, restarts: 8, lastExit: { exitCode: 1 } });
  });

  it('that ran for long is forgiven', () => {
    const { commands } = live('Always', exited(1), waited, exited(1), waited, ready, exited(1, 700_000));
    expect(commands).toEqual(['wait 0 s', 'start', 'wait 10 s', 'start', '', 'wait 0 s']);
  });

  it.each([
    ['Never', 0, 'finished'],
    ['Never', 1, 'finished'],
    ['OnFailure', 0, 'finished'],
    ['OnFailure', 1, 'waiting'],
    ['Always', 0, 'waiting'],
  ])('with restartPolicy %s that exits with %i is %s', (restartPolicy, exitCode, stage) => {
    expect(live(restartPolicy, exited(exitCode)).run.stage).toBe(stage);
  });

  it('is ready, and no more', () => {
    expect(live('Always', ready).run).toMatchObject({ stage: 'running', ready: true, readySinceMs: 1 });
    expect(live('Always', ready, { kind: 'unready', atMs: 5 }).run).toMatchObject({
      stage: 'running',
      ready: false,
      readySinceMs: 5,
    });
    expect(live('Always', ready, exited(0, 7)).run).toMatchObject({ stage: 'waiting', ready: false, readySinceMs: 7 });
  });

  it.each([
    ['running', [ready, deletion, exited(0)], ['', 'stop within 30 s', 'remove']],
    [
      'running, asked twice',
      [deletion, { ...deletion, graceSeconds: 1 }, exited(137)],
      ['stop within 30 s', 'stop within 1 s', 'remove'],
    ],
    ['waiting', [exited(1), deletion, waited], ['wait 0 s', 'remove', '']],
    ['finished', [exited(0), deletion], ['wait 0 s', 'remove']],
  ])('that is deleted while %s', (_name, events, commands) => {
    expect(live('Always', ...(events as PodEvent[])).commands).toEqual(commands);
  });

  it('that is being stopped does not become ready', () => {
    expect(live('Always', deletion, ready).run).toMatchObject({ stage: 'stopping', ready: false });
  });
});
