import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-controller.js', import.meta.url));

it('output to a full disk: one sentence, and exit code 73', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'crds'], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    expect(stderr).toBe('vmdhcp-controller: the output cannot be written: ENOSPC: no space left on device, write\n');
    expect(status).toBe(73);
  } finally {
    closeSync(full);
  }
});
