import type { Lease, MacAddress } from '@vmdhcp/dhcp-allocator';
import { settle } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { MachineContact, SILENT_MS } from './machine-contact.js';

const leaseOf = (number: number): Lease => ({
  poolName: 'a/b',
  macAddress:
    `02:00:00:00:${String(Math.floor(number / 100)).padStart(2, '0')}:${String(number % 100).padStart(2, '0')}` as MacAddress,
  address: 0x0a000000 + number,
  expiresAtMs: Number.POSITIVE_INFINITY,
});

function setUp(machines: number) {
  let nowMs = 0;
  const there = new Set<number>();
  const asked: (readonly [second: number, count: number])[] = [];
  const changes: string[] = [];
  let count = 0;
  const contact = new MachineContact({
    clock: { nowMs: () => nowMs },
    leases: () => Array.from({ length: machines }, (_, number) => leaseOf(number)),
    ask: async ({ address }) => {
      count++;
      return there.has(address - 0x0a000000);
    },
    onChange: (isSilent) => changes.push(`${nowMs / 1_000} s: ${isSilent ? 'silent' : 'answers'}`),
  });
  const pass = async (seconds: number, asksAtOnce = false) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      count = 0;
      contact.look(asksAtOnce);
      if (count > 0) asked.push([nowMs / 1_000, count]);
      await settle();
    }
  };
  return { contact, there, asked, changes, pass };
}

it('a network is silent after two minutes without a reply or an answer, and answers again', async () => {
  const { contact, there, asked, changes, pass } = setUp(3);
  await pass(40);
  expect(asked).toEqual([]);
  await pass(1);
  expect(asked).toEqual([[41, 3]]);
  await pass(79);
  expect([contact.isSilent, contact.silentForMs]).toEqual([false, 0]);
  await pass(1);
  expect([contact.isSilent, contact.silentForMs]).toEqual([true, SILENT_MS]);
  there.add(1);
  await pass(60);
  expect(contact.isSilent).toBe(false);
  expect(changes).toEqual(['121 s: silent', '171 s: answers']);
});

it('machines that get replies are not asked', async () => {
  const { contact, asked, changes, pass } = setUp(3);
  for (let times = 0; times < 20; times++) {
    contact.noteReply();
    await pass(30);
  }
  expect([asked, changes]).toEqual([[], []]);
});

it('normally one machine is asked every 40 seconds: the last one that answered', async () => {
  const { there, asked, changes, pass } = setUp(100);
  there.add(70);
  await pass(70);
  asked.length = 0;
  await pass(400);
  expect(asked.length).toBeGreaterThanOrEqual(8);
  expect(asked.length).toBeLessThanOrEqual(11);
  expect(new Set(asked.map(([, count]) => count))).toEqual(new Set([1]));
  expect(changes).toEqual([]);
});

it('a network is silent only after each of its machines was asked', async () => {
  const { contact, there, asked, pass } = setUp(500);
  await pass(190);
  expect(contact.isSilent).toBe(false);
  expect(asked.every(([, count]) => count <= 32)).toBe(true);
  await pass(12);
  expect(contact.isSilent).toBe(true);
  there.add(499);
  await pass(1_000);
  expect(contact.isSilent).toBe(false);
});

it('a network without machines is never silent', async () => {
  const { contact, pass } = setUp(0);
  await pass(1_000);
  expect(contact.isSilent).toBe(false);
});

it('a standby whose leader is silent asks at once', async () => {
  const { contact, there, asked, pass } = setUp(2);
  there.add(0);
  await pass(1, true);
  expect([asked, contact.hasContact]).toEqual([[[1, 2]], true]);
  contact.leave();
  expect(contact.hasContact).toBe(false);
});

it('an answer that comes after the network is no longer watched is ignored', async () => {
  const { contact, there, pass } = setUp(1);
  there.add(0);
  const asking = pass(1, true);
  contact.leave();
  await asking;
  expect(contact.hasContact).toBe(false);
});
