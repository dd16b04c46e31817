import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiConnection } from '@vmdhcp/kube-runtime/node';
import { expect, it } from 'vitest';
import { listEventsWithinLimits } from './list-events-within-limits.js';

const SELECTION = { namespace: undefined, kind: 'IPPool', name: undefined, component: 'vm-dhcp-controller' };

/** Lists these many Events with messages of this size. */
async function listed(
  count: number,
  octetsOf: (index: number) => number,
): Promise<{ found: number; longest: number; limits: number[]; selector: string | null }> {
  const limits: number[] = [];
  let selector: string | null = null;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://server');
    const [limit, from] = [Number(searchParams.get('limit')), Number(searchParams.get('continue') ?? 0)];
    limits.push(limit);
    selector = searchParams.get('fieldSelector');
    const until = Math.min(from + limit, count);
    const items = Array.from({ length: until - from }, (_, index) => ({
      metadata: { namespace: 'default', name: `e-${from + index}` },
      involvedObject: { kind: 'IPPool', name: 'net' },
      message: 'x'.repeat(octetsOf(from + index)),
    }));
    const metadata = { resourceVersion: '1', ...(until < count && { continue: String(until) }) };
    response.end(JSON.stringify({ kind: 'EventList', apiVersion: 'v1', metadata, items }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const where = { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' };
  const connection = new ApiConnection(where, { userAgent: 'test', mostAnswerOctets: 1_000_000 });
  try {
    const events = await listEventsWithinLimits(connection, SELECTION);
    const lengths = events.map((event) => JSON.stringify(event).length);
    return { found: events.length, longest: Math.max(...lengths), limits, selector };
  } finally {
    connection.close();
    server.close();
  }
}

it('Events are read in full pages', async () => {
  const { found, limits, selector } = await listed(1_200, () => 100);
  expect([found, limits]).toEqual([1_200, [500, 500, 500]]);
  expect(selector).toBe('involvedObject.kind=IPPool,source=vm-dhcp-controller');
});

it('large Events of a tenant cost a bounded number of short pages, and little of each is kept', async () => {
  const { found, longest, limits } = await listed(5_000, () => 100_000);
  expect(found).toBeGreaterThan(20);
  expect(longest).toBeLessThan(3_000);
  expect(limits).toHaveLength(20);
  expect(limits.slice(0, 4)).toEqual([500, 50, 5, 25]);
});

it('two large Events of a tenant hide no others', async () => {
  const { found, limits } = await listed(600, (index) => (index < 2 ? 600_000 : 100));
  expect([found, limits]).toEqual([600, [500, 50, 5, 1, 5, 25, 125, 500]]);
});

it('one that is longer than any page may be is an error, and does not repeat for ever', async () => {
  await expect(listed(10, () => 1_100_000)).rejects.toThrow('the answer has more than 1000000 octets');
});
