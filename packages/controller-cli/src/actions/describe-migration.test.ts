import { NOTHING_OBSERVED } from '@vmdhcp/controller-process/migration';
import { describe, expect, it } from 'vitest';
import { describeOutlook } from './describe-migration.js';

const LOST = 'IPPool default/net: spec.mtu';
const outlook = (problems: readonly { object: string; message: string; remedy: string }[] = []) => ({
  observed: NOTHING_OBSERVED,
  problems,
  warnings: [],
  losses: [LOST],
  steps: [{ id: 'restore', title: 'restore', writes: [] }],
});
const SAVE = 'save it first: kubectl get ippools,vmnetcfg -A -o yaml > later.yaml';

describe('what the way back loses', () => {
  it('is advised to be saved as long as nothing is lost: in a dry run, and where the way back is refused', () => {
    const problem = { object: 'backup', message: 'the file does not exist', remedy: 'name it' };
    for (const lines of [
      describeOutlook(outlook(), { direction: 'back', dryRun: true }),
      describeOutlook(outlook([problem]), { direction: 'back', dryRun: false }),
    ])
      expect(lines).toEqual(expect.arrayContaining([`lost: ${LOST}`, SAVE]));
  });

  it('is named, without advice that comes too late, when the way back begins at once', () => {
    const lines = describeOutlook(outlook(), { direction: 'back', dryRun: false });
    expect(lines).toContain(`lost: ${LOST}`);
    expect(lines).not.toContain(SAVE);
  });
});
