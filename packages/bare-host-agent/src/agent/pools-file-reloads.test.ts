import { describe, expect, it } from 'vitest';
import type { LoadedPoolsFile } from '../pools-file/load-pools-file.js';
import { PoolsFileReloads } from './pools-file-reloads.js';

const FILE = { pools: new Map(), ntpNames: new Set<string>() };
const PROBLEM = { line: 3, column: 1, object: 'IPPool net', path: '', message: 'is wrong' };
const GOOD: LoadedPoolsFile = { ok: true, file: FILE, warnings: [] };

/** Reloads in which the test decides when reading ends, and all events. */
function reloads(answers: { configure?: boolean; load?: () => Promise<LoadedPoolsFile> } = {}) {
  const log: string[] = [];
  const note = (level: string) => (facts: unknown, message?: string) =>
    void log.push(
      `${level} ${message ?? String(facts)}${typeof facts === 'object' && facts !== null && 'problems' in facts ? ` ${facts.problems}` : ''}`,
    );
  const made = new PoolsFileReloads({
    path: 'pools.yaml',
    logger: { info: note('info'), warn: note('warn'), error: note('error') } as never,
    load: async () => {
      log.push('load');
      return answers.load?.() ?? GOOD;
    },
    configure: async () => {
      log.push('configure');
      return answers.configure ?? true;
    },
    onInEffect: async () => void log.push('prepare interfaces'),
  });
  return { log, made, answers };
}

describe('a pools file that changes', () => {
  it('is in effect after it was planned, and then the interfaces are prepared', async () => {
    const { log, made } = reloads();
    await made.reload();
    expect(log).toEqual(['load', 'configure', 'prepare interfaces', 'info the changed pools file is in effect']);
  });

  it('is refused if it has problems, each with its place; nothing is configured', async () => {
    const { log, made } = reloads({ load: async () => ({ ok: false, problems: [PROBLEM], warnings: [], rest: FILE }) });
    await made.reload();
    expect(log).toEqual([
      'load',
      'error the changed pools file is refused: the pools stay as they were pools.yaml:3:1: IPPool net: is wrong',
    ]);
  });

  it('lists its problems until it is mended', async () => {
    const { made, answers } = reloads({ load: async () => ({ ok: false, problems: [PROBLEM], warnings: [], rest: FILE }) });
    expect(made.problems).toEqual([]);
    await made.reload();
    expect(made.problems).toEqual([
      'the changed pools file is refused: the pools stay as they were',
      'pools.yaml:3:1: IPPool net: is wrong',
    ]);
    delete answers.load;
    await made.reload();
    expect(made.problems).toEqual([]);
  });

  it('is in effect if it has warnings, which are logged', async () => {
    const { log, made } = reloads({ load: async () => ({ ...GOOD, warnings: [PROBLEM] }) });
    await made.reload();
    expect(log).toContain('warn pools.yaml:3:1: IPPool net: is wrong');
    expect(log.at(-1)).toBe('info the changed pools file is in effect');
  });

  it('is not in effect if its leases cannot be saved', async () => {
    const { log, made } = reloads({ configure: false });
    await made.reload();
    expect(log).toEqual(['load', 'configure', 'warn the changed pools file is not in effect: its leases cannot be saved yet']);
  });

  it('is read again after a reading in progress, never twice at once', async () => {
    const reading = Promise.withResolvers<LoadedPoolsFile>();
    const { log, made, answers } = reloads({ load: () => reading.promise });
    const first = made.reload();
    const second = made.reload();
    await Promise.resolve();
    expect(log).toEqual(['load']);
    delete answers.load;
    reading.resolve(GOOD);
    await Promise.all([first, second]);
    expect(log.filter((line) => line === 'load')).toHaveLength(2);
    expect(log.indexOf('info the changed pools file is in effect')).toBeLessThan(log.lastIndexOf('load'));
  });

  it('is read at the next change if reading it failed', async () => {
    const { log, made, answers } = reloads({ load: () => Promise.reject(new Error('no process')) });
    await made.reload();
    expect(log).toEqual(['load', 'error reload failed']);
    delete answers.load;
    await made.reload();
    expect(log.at(-1)).toBe('info the changed pools file is in effect');
  });

  it('is not read after the stop, nor configured if the stop came while it was read', async () => {
    const reading = Promise.withResolvers<LoadedPoolsFile>();
    const { log, made } = reloads({ load: () => reading.promise });
    const reload = made.reload();
    await Promise.resolve();
    made.stop();
    reading.resolve(GOOD);
    await reload;
    await made.reload();
    expect(log).toEqual(['load']);
  });
});
