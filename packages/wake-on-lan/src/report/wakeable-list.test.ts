import { expect, it } from 'vitest';
import { WakeableList } from './wakeable-list.js';

const [VM_A, VM_B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];

it('before the first list all machines count, then those of the list, and all again five minutes after the manager is gone', () => {
  const list = new WakeableList(undefined);
  expect(list.machines(0)).toBeUndefined();
  list.take(new Set([VM_A]));
  expect(list.machines(1)).toEqual(new Set([VM_A]));
  list.disconnect(1_000);
  list.disconnect(200_000);
  expect(list.machines(300_999)).toEqual(new Set([VM_A]));
  expect(list.machines(301_000)).toBeUndefined();
  expect(list.size).toBeUndefined();
});

it('if the manager is back within five minutes, its list stays valid', () => {
  const list = new WakeableList(undefined);
  list.take(new Set([VM_A]));
  list.disconnect(0);
  list.take(new Set([VM_B]));
  expect(list.machines(10_000_000)).toEqual(new Set([VM_B]));
});

it('machines of the command line are the only ones, with and without a list', () => {
  const list = new WakeableList(new Set([VM_A]));
  expect(list.machines(0)).toEqual(new Set([VM_A]));
  list.take(new Set([VM_A, VM_B]));
  expect(list.machines(0)).toEqual(new Set([VM_A]));
  list.take(new Set([VM_B]));
  expect(list.machines(0)).toEqual(new Set());
  list.forget();
  expect(list.machines(0)).toEqual(new Set([VM_A]));
});
