import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MigrationBackup } from './migration-backup.js';

const definition = (uid: string): KubernetesObject => ({ kind: 'CustomResourceDefinition', metadata: { name: 'ippools', uid } });

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-backup-'));
  path = join(folder, 'backup.json');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('MigrationBackup', () => {
  it('is read as it was written, and leaves no other file', () => {
    expect(MigrationBackup.read(path)).toBeUndefined();
    MigrationBackup.write(path, [definition('1')]);
    expect(MigrationBackup.read(path)?.definition('ippools')).toEqual(definition('1'));
    expect(readdirSync(folder)).toEqual(['backup.json']);
  });

  it('does not replace an existing one: another run wrote it', () => {
    MigrationBackup.write(path, [definition('1')]);
    const before = readFileSync(path, 'utf8');
    expect(() => MigrationBackup.write(path, [definition('2')])).toThrow('the backup cannot be written: EEXIST');
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(folder)).toEqual(['backup.json']);
  });

  it('finds the objects of its cluster by uid', () => {
    const backup = MigrationBackup.write(path, [definition('1')]);
    expect(backup.hasOneOf([definition('2'), definition('1')])).toBe(true);
    expect(backup.hasOneOf([definition('2'), { metadata: { name: 'ippools' } }])).toBe(false);
  });
});
