import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CommandError, ExitCode } from './exit-code.js';
import { runProgram } from './run-program.js';

const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);

afterEach(() => {
  process.exitCode = undefined;
  written.mockClear();
});

describe('runProgram', () => {
  it('an error is one sentence and an exit code; nothing in it controls a terminal', async () => {
    const fails = new Command('fail').action(() => {
      throw new CommandError('the pod answers: \u001b]0;x\u0007\u009b2J\u202e\rdone\n\tsecond line', ExitCode.unavailable);
    });
    const packageUrl = new URL('../package.json', import.meta.url);
    await runProgram({ name: 'program', description: '', packageUrl, commands: [fails], environment: {} }, ['node', 'x', 'fail']);
    expect(written.mock.calls).toEqual([['program: the pod answers:  ]0;x  2J  done\n\tsecond line\n']]);
    expect(process.exitCode).toBe(ExitCode.unavailable);
  });

  it.each([
    ['fails', true],
    ['succeeds', false],
  ])('a command that %s and leaves something running: the process ends by itself: %s', async (_, isFailing) => {
    vi.useFakeTimers();
    const ended = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const begins = new Command('begin').action(() => {
      if (isFailing) throw new CommandError('no', ExitCode.unavailable);
    });
    const packageUrl = new URL('../package.json', import.meta.url);
    await runProgram({ name: 'program', description: '', packageUrl, commands: [begins], environment: {} }, [
      'node',
      'x',
      'begin',
    ]);
    vi.runAllTimers();
    expect(ended).toHaveBeenCalledTimes(isFailing ? 1 : 0);
    ended.mockRestore();
    vi.useRealTimers();
  });
});
