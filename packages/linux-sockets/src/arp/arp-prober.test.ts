/** The prober with a socket of the test. On real interfaces: the lab. */
import { afterAll, expect, it, vi } from 'vitest';

/** `onReceive` is called for each turn of the prober; time passes there alone. */
const fake = vi.hoisted(() => ({ filters: [] as number[], missed: false, busy: false, nowMs: 0, onReceive: () => {} }));
const clock = vi.spyOn(performance, 'now').mockImplementation(() => fake.nowMs);
afterAll(() => clock.mockRestore());
vi.mock('node:timers/promises', () => ({ setTimeout: async () => await new Promise(setImmediate) }));
vi.mock('./arp-socket.js', () => ({
  ArpSocket: class {
    hardwareAddress = Uint8Array.from([2, 0, 0, 0, 0, 1]);
    get hasMissed() {
      return fake.missed;
    }
    receiveOnlyFrom(a: readonly number[]) {
      fake.filters.push(a.length);
    }
    probe(a: readonly number[]) {
      return fake.busy ? 0 : a.length;
    }
    receive() {
      fake.nowMs += 10;
      fake.onReceive();
      return [];
    }
    close() {}
  },
}));
const { ArpProber } = await import('./arp-prober.js');
const client = '02:00:00:00:00:aa';

it('a flood that begins when few of many are left sets the exact filter', async () => {
  const prober = new ArpProber('eth0');
  let open = 400;
  const all = Array.from({ length: 400 }, (_, n) =>
    prober.ask({ address: 0x0a000000 + n, macAddress: client }).finally(() => open--),
  );
  let before = 0;
  fake.onReceive = () => {
    if (open > 128 || fake.missed) return;
    before = fake.filters.length;
    fake.missed = true;
  };
  await Promise.allSettled(all);
  expect(before).toBeGreaterThan(0);
  expect(fake.filters.length).toBeGreaterThan(before);
  expect(Math.max(...fake.filters.slice(before))).toBeLessThanOrEqual(128);
});

it('a probe ends with an error if the system has no room for requests for two seconds', async () => {
  Object.assign(fake, { missed: false, busy: true, onReceive: () => {} });
  const prober = new ArpProber('eth0');
  await expect(prober.ask({ address: 1, macAddress: client })).rejects.toThrow('no ARP request could be sent on eth0');
});
