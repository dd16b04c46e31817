import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBindings } from '../bindings/moved-bindings.js';
import { StateDirectory } from './state-directory.js';
import type { StateToSave } from './state-format.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-state-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Files = NonNullable<Parameters<typeof StateDirectory.open>[1]>;

/** A state of this many leases. */
function stateOf(leases: number): StateToSave {
  const assignments = Array.from({ length: leases }, (_, index) => ({
    macAddress: `02:00:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`,
    address: 0x0a000000 + index,
  }));
  return { pools: new Map([['net', { assignments, quarantines: [] }]]), owners: new Map(), expiryOf: () => undefined };
}

/** How many leases are found when the folder is opened again, and how many files were renamed. */
async function reopened(): Promise<{ leases: number; setAside: number }> {
  const directory = await StateDirectory.open(folder);
  try {
    const { state, reports } = await directory.load();
    return { leases: state.pools.get('net')?.assignments.length ?? 0, setAside: reports.length };
  } finally {
    await directory.close();
  }
}

/** An operation that the system refuses. */
function refuseWith(code: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('refused'), { code }));
}

type Write = (bytes: Uint8Array, offset: number, length: number) => Promise<{ bytesWritten: number }>;

function writeOf(handle: fs.FileHandle): Write {
  const write = handle.write.bind(handle);
  return (bytes, offset, length) => write(bytes, offset, length);
}

/** File operations with another `write`, which gets the real one. */
function filesThatWrite(write: (real: Write) => Write): Files {
  return {
    ...fs,
    open: async (...parameters: Parameters<typeof fs.open>) => {
      const handle = await fs.open(...parameters);
      return Object.assign(handle, { write: write(writeOf(handle)) });
    },
  };
}

describe('a file handle that writes a part of what it is given', () => {
  it('is called again for the rest', async () => {
    const directory = await StateDirectory.open(
      folder,
      filesThatWrite((real) => (bytes, offset, length) => real(bytes, offset, Math.min(length, 7))),
    );
    await directory.save(stateOf(40));
    await directory.close();
    expect(await reopened()).toEqual({ leases: 40, setAside: 0 });
  });

  it('then accepts nothing more: the save fails, the old state stays, and no partial file is left', async () => {
    let room = Number.POSITIVE_INFINITY;
    const directory = await StateDirectory.open(
      folder,
      filesThatWrite((real) => async (bytes, offset, length) => {
        const { bytesWritten } = await real(bytes, offset, Math.min(length, room));
        room -= bytesWritten;
        return { bytesWritten };
      }),
    );
    await directory.save(stateOf(3));
    room = 1_000;
    await expect(directory.save(stateOf(40))).rejects.toThrow(
      `${join(folder, 'leases.next')} cannot be written: the disk accepts no more octets; look at the disk and free or repair it`,
    );
    room = Number.POSITIVE_INFINITY;
    expect(readdirSync(folder).toSorted()).toEqual(['leases', 'lock']);
    await directory.save(stateOf(41));
    await directory.close();
    expect(await reopened()).toEqual({ leases: 41, setAside: 0 });
  });

  it('reports that it wrote everything: reading back detects it, and nothing is renamed', async () => {
    let lies = false;
    const directory = await StateDirectory.open(
      folder,
      filesThatWrite((real) => async (bytes, offset, length) => {
        await real(bytes, offset, lies ? length - 10 : length);
        return { bytesWritten: length };
      }),
    );
    await directory.save(stateOf(3));
    lies = true;
    await expect(directory.save(stateOf(40))).rejects.toThrow(/it has \d+ octets but \d+ were written/);
    await directory.close();
    expect(await reopened()).toEqual({ leases: 3, setAside: 0 });
  });

  it('writes other octets than it was given: reading back detects it, and nothing is renamed', async () => {
    let lies = false;
    const directory = await StateDirectory.open(
      folder,
      filesThatWrite((real) => (bytes, offset, length) => real(lies ? new Uint8Array(bytes.length) : bytes, offset, length)),
    );
    await directory.save(stateOf(3));
    lies = true;
    await expect(directory.save(stateOf(40))).rejects.toThrow('it does not hold the octets that were written');
    await directory.close();
    expect(await reopened()).toEqual({ leases: 3, setAside: 0 });
  });

  it.each([
    ['ENOSPC', 'the disk is full (ENOSPC); free space on it'],
    ['EROFS', 'the file system is read-only (EROFS); mount it writable'],
    ['EACCES', 'permission is denied (EACCES); make the folder, and what is in it, writable for this user'],
  ])('fails with %s: the error says where, what and what to do', async (code, reported) => {
    const refuse = refuseWith(code);
    const directory = await StateDirectory.open(
      folder,
      filesThatWrite(() => refuse),
    );
    await expect(directory.save(stateOf(1))).rejects.toThrow(`${join(folder, 'leases.next')} cannot be written: ${reported}`);
    await directory.close();
  });
});

describe('a file system without hard links', () => {
  it.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS'])('saves more than once, and keeps the copy before (%s)', async (code) => {
    const directory = await StateDirectory.open(folder, { ...fs, link: refuseWith(code) });
    for (const leases of [1, 2, 3]) await directory.save(stateOf(leases));
    await directory.close();
    expect(await reopened()).toEqual({ leases: 3, setAside: 0 });
    expect(readdirSync(folder).toSorted()).toEqual(['leases', 'leases.previous', 'lock']);
    rmSync(join(folder, 'leases'));
    expect(await reopened()).toEqual({ leases: 2, setAside: 0 });
  });
});

describe('an existing state that this program cannot use', () => {
  const files = () => readdirSync(folder).toSorted();

  beforeEach(async () => {
    const directory = await StateDirectory.open(folder);
    for (const leases of [4, 5]) await directory.save(stateOf(leases));
    await directory.close();
  });

  it('because it cannot be read: the agent does not start, and the files are unchanged', async () => {
    await fs.rename(join(folder, 'leases'), join(folder, 'whole'));
    await fs.mkdir(join(folder, 'leases'));
    const before = files();
    await expect(reopened()).rejects.toMatchObject({
      exitCode: 66,
      message: expect.stringMatching(/^state file .*\/leases cannot be read: EISDIR.*; make it readable/),
    });
    expect(files()).toEqual(before);
  });

  it.each([
    ['both files', ['leases', 'leases.previous']],
    ['the current one, the copy before is of this version', ['leases']],
  ])('because a later version wrote %s: the agent does not start, and the files are unchanged', async (_, names) => {
    for (const name of names) {
      const text = readFileSync(join(folder, name), 'utf8');
      rmSync(join(folder, name));
      await fs.writeFile(join(folder, name), text.replace('vmdhcp-agent-state 1', 'vmdhcp-agent-state 2'));
    }
    await expect(reopened()).rejects.toMatchObject({
      exitCode: 65,
      message: expect.stringMatching(/\/leases: it has format version 2; this program reads 1; run the version/),
    });
    expect(files()).toEqual(['leases', 'leases.previous', 'lock']);
  });

  it('because the current one is torn and the copy before cannot be read: nothing is renamed', async () => {
    await fs.truncate(join(folder, 'leases'), 100);
    rmSync(join(folder, 'leases.previous'));
    await fs.mkdir(join(folder, 'leases.previous'));
    await expect(reopened()).rejects.toMatchObject({ exitCode: 66 });
    expect(files()).toEqual(['leases', 'leases.previous', 'lock']);
  });
});

/** File operations of a process that dies: after `steps` of them none is done. */
function filesUntilDeath(steps: number, hasLinks = true): { files: Files; taken: () => number } {
  let taken = 0;
  const mortal =
    <Parameters extends unknown[], Result>(operation: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (taken >= steps) throw new Error('the process is dead');
      taken++;
      return operation(...parameters);
    };
  const open = async (...parameters: Parameters<typeof fs.open>) => {
    const handle = await fs.open(...parameters);
    // The kernel closes the files of a process that died, so this is not counted.
    return Object.assign(handle, { write: mortal(writeOf(handle)), sync: mortal(handle.sync.bind(handle)) });
  };
  const link = mortal(hasLinks ? fs.link : refuseWith('EPERM'));
  const files = { ...fs, open: mortal(open), link, copyFile: mortal(fs.copyFile), rename: mortal(fs.rename), rm: mortal(fs.rm) };
  return { files, taken: () => taken };
}

describe('a process that dies', () => {
  const MOST_STEPS = 40;

  it.each([
    ['with one save before', 1],
    ['with two saves before', 2],
    ['after it died at the same step before', 3],
    ['without hard links', 4],
  ] as const)('between any two file operations of a save, %s, leaves the old state or the new one', async (_, story) => {
    const found: number[] = [];
    let completed = false;
    for (let steps = 0; !completed; steps++) {
      expect(steps, 'a save has an end').toBeLessThan(MOST_STEPS);
      rmSync(folder, { recursive: true, force: true });
      const before = await StateDirectory.open(folder);
      await before.save(stateOf(600));
      if (story === 2 || story === 4) await before.save(stateOf(600));
      await before.close();
      for (let deaths = story === 3 ? 2 : 1; deaths > 0; deaths--) {
        const dying = await StateDirectory.open(folder, filesUntilDeath(steps, story !== 4).files);
        completed = await dying.save(stateOf(700)).then(
          () => true,
          () => false,
        );
        await dying.close();
        // At every moment, one name of a state leads to a whole file; no file had to be renamed.
        const { leases, setAside } = await reopened();
        expect({ steps, setAside }).toEqual({ steps, setAside: 0 });
        expect([600, 700]).toContain(leases);
        if (completed) expect(leases).toBe(700);
        found.push(leases);
      }
      const after = await StateDirectory.open(folder);
      await after.save(stateOf(800));
      await after.close();
      expect((await reopened()).leases).toBe(800);
      expect(readdirSync(folder).toSorted()).toEqual(['leases', 'leases.previous', 'lock']);
    }
    expect(found).toContain(600);
    expect(found).toContain(700);
  });

  it('never leaves the folder without the copy before the current file', async () => {
    const before = await StateDirectory.open(folder);
    await before.save(stateOf(1));
    await before.save(stateOf(2));
    await before.close();
    for (let steps = 0; ; steps++) {
      const { files, taken } = filesUntilDeath(steps);
      const dying = await StateDirectory.open(folder, files);
      await dying.save(stateOf(2)).catch(() => undefined);
      await dying.close();
      expect(readFileSync(join(folder, 'leases.previous'), 'utf8')).toContain('"net"');
      if (taken() < steps) break;
    }
  });
});

describe.skipIf(process.getuid?.() !== 0)('root in the folder of another user, as `import` before a service starts', () => {
  const SERVICE = 4_711;
  const ownerOf = (name: string) => statSync(join(folder, name)).uid;

  beforeEach(() => chownSync(folder, SERVICE, SERVICE));

  it('creates files that belong to that user', async () => {
    const directory = await StateDirectory.open(folder);
    await directory.save(stateOf(3));
    await directory.save(stateOf(4));
    await directory.close();
    await createBindings(folder, []);
    expect(readdirSync(folder).map((name) => `${name} ${ownerOf(name)}`)).toEqual([
      `bindings ${SERVICE}`,
      `leases ${SERVICE}`,
      `leases.previous ${SERVICE}`,
      `lock ${SERVICE}`,
    ]);
  });

  it('saves also without CAP_CHOWN, as the agent of a hardened container', () => {
    const script = `
      import { EMPTY_STATE, StateDirectory } from '@vmdhcp/lease-stores';
      const directory = await StateDirectory.open(process.argv[1]);
      await directory.save({ ...EMPTY_STATE, expiryOf: () => undefined });
      await directory.close();`;
    const node = [process.execPath, '--input-type=module', '--eval', script, folder];
    const { status, stderr } = spawnSync('/usr/bin/setpriv', ['--bounding-set=-chown', '--inh-caps=-chown', ...node], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(readdirSync(folder)).toEqual(['leases', 'lock']);
    expect(ownerOf('leases')).toBe(0);
  });

  it('does not write into, and does not give away, what that user has put behind a link', async () => {
    const secret = mkdtempSync(join(tmpdir(), 'vmdhcp-secret-'));
    try {
      writeFileSync(join(secret, 'file'), 'secret', { mode: 0o600 });
      for (const name of ['leases.next', 'bindings.next', 'lock']) symlinkSync(join(secret, 'file'), join(folder, name));
      const directory = await StateDirectory.open(folder);
      await directory.save(stateOf(3));
      await directory.close();
      await createBindings(folder, []);
      expect([readFileSync(join(secret, 'file'), 'utf8'), statSync(join(secret, 'file')).uid]).toEqual(['secret', 0]);
      expect((await reopened()).leases).toBe(3);
    } finally {
      rmSync(secret, { recursive: true });
    }
  });
});
