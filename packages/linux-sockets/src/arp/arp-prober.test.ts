/** The prober with a socket of the test. On real interfaces: the lab. */
import { expect, it, vi } from 'vitest';

const fake = vi.hoisted(() => ({ filters: [] as number[], missed: false, busy: false, sent: 0 }));
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
      if (fake.busy) return 0;
      fake.sent += a.length;
      return a.length;
    }
    receive() {
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
  const settled = Promise.allSettled(all);
  while (open > 128 || open === 0) await new Promise((r) => setTimeout(r, 1));
  const before = [...fake.filters];
  fake.missed = true;
  await settled;
  expect(fake.filters.length).toBeGreaterThan(before.length);
  expect(Math.max(...fake.filters.slice(before.length))).toBeLessThanOrEqual(128);
});

it('a probe ends with an error if the system has no room for requests for two seconds', async () => {
  fake.missed = false;
  fake.busy = true;
  const prober = new ArpProber('eth0');
  await expect(prober.ask({ address: 1, macAddress: client })).rejects.toThrow('no ARP request could be sent on eth0');
});
