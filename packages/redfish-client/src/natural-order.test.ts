import { expect, it, onTestFinished } from 'vitest';
import { naturalOrder } from './resource/natural-order.js';
import { link, serve, startService, withSystem } from './service-fixtures.js';

it('an answer within the limits does not block the process, which also serves DHCP, for a second', {
  timeout: 120_000,
}, async () => {
  // U+0301 and U+0316 are in the other order in canonical form: a collator that compares them sorts each run again.
  const member = (index: number) => ({ ...link(`/a${'\u0301\u0316'.repeat(180)}${(index * 7919) % 5_000}`), Name: 'x' });
  const memory = { Members: Array.from({ length: 5_000 }, (_, index) => member(index)) };
  expect(Buffer.byteLength(JSON.stringify(memory))).toBeLessThan(4 * 1_024 * 1_024);
  const service = await startService(serve(withSystem({ Memory: link('/mem') }, { '/mem': memory })));
  onTestFinished(() => service[Symbol.asyncDispose]());
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 10);
  onTestFinished(() => clearInterval(timer));
  await service
    .client()
    .inspect()
    .catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(longest).toBeLessThan(1_000);
});

it('nor do two members whose links are long', { timeout: 120_000 }, async () => {
  const member = (index: number) => ({ ...link(`/a${'\u0301\u0316'.repeat(70_000)}${index}`), Name: 'x' });
  const memory = { Members: [member(1), member(2)] };
  expect(Buffer.byteLength(JSON.stringify(memory))).toBeLessThan(600_000);
  const service = await startService(serve(withSystem({ Memory: link('/mem') }, { '/mem': memory })));
  onTestFinished(() => service[Symbol.asyncDispose]());
  const beganAtMs = performance.now();
  await service
    .client()
    .inspect()
    .catch(() => undefined);
  expect(performance.now() - beganAtMs).toBeLessThan(2_000);
});

it('orders numbers by their value, and everything else by its characters; the same text is the same', () => {
  const links = ['/m/10', '/m/2', '/m/02', '/m/2/a', '/n', '/m/a', '/m/', '/m/2'];
  expect(links.toSorted(naturalOrder)).toEqual(['/m/', '/m/02', '/m/2', '/m/2', '/m/2/a', '/m/10', '/m/a', '/n']);
  expect(naturalOrder('/m/2', '/m/2')).toBe(0);
});
