import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataFile } from './data-file.js';
import { ObjectStore } from './object-store.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-simulator-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const object = (value: number) => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, value });

function open(file: string): { readonly data: DataFile; readonly store: ObjectStore } {
  const data = new DataFile(file);
  const store = new ObjectStore(data);
  store.restore(data.entries, data.resourceVersion);
  return { data, store };
}

it('what was written is there after a restart, also after one that cut off the last line', () => {
  const file = join(directory, 'data.jsonl');
  const first = open(file);
  first.store.put('things', 'a', object(1));
  first.store.put('things', 'b', object(2));
  first.store.remove('things', 'b', object(2));
  const last = first.store.put('things', 'a', object(3));
  first.data.close();
  appendFileSync(file, '{"c":"things","k":"z","v":9');

  const second = open(file);
  expect([...second.store.collection('things').entries()].map(([key]) => key)).toEqual(['a']);
  expect(second.store.collection('things').get('a')?.object).toEqual(last.object);
  expect(second.store.resourceVersion).toBe(last.resourceVersion);
  expect(second.store.put('things', 'c', object(4)).resourceVersion).toBe(last.resourceVersion + 1);
  second.data.close();
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
});

it('others may not read it: it holds secrets', () => {
  const file = join(directory, 'data.jsonl');
  open(file).data.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
