import { chmodSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPoolsFile } from './load-pools-file.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-pools-'));
  path = join(folder, 'pools.yaml');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('a pools file that cannot be read is a problem like any other', () => {
  it('because it does not exist', async () => {
    expect(await loadPoolsFile(path)).toMatchObject({
      ok: false,
      missing: true,
      problems: [{ line: 1, column: 1, message: 'does not exist; give a file with IPPool objects' }],
    });
  });

  it('a directory', async () => {
    expect(await loadPoolsFile(folder)).toMatchObject({
      missing: true,
      problems: [{ message: expect.stringMatching(/^is a directory; /) }],
    });
  });

  it.skipIf(process.getuid?.() === 0)('because this user may not read it', async () => {
    writeFileSync(path, '');
    chmodSync(path, 0);
    expect(await loadPoolsFile(path)).toMatchObject({
      problems: [{ message: expect.stringMatching(/^may not be read by this user; /) }],
    });
  });

  it('because it is too large: it exists, so it is not missing', async () => {
    writeFileSync(path, '');
    truncateSync(path, (64 << 20) + 1);
    const result = await loadPoolsFile(path);
    expect(result).toMatchObject({ ok: false, problems: [{ message: 'has 67108865 octets; split it up' }] });
    expect(result).not.toHaveProperty('missing');
  });
});
