/** Dumps the caches of the controller for debugging, with upstream's endpoints and formats. */
import { formatIpv4Address, rangeContains } from '@vmdhcp/dhcp-allocator';
import type { ClusterView, PoolView } from '@vmdhcp/reconciler';
import type { PageAnswer, StatusPage } from '@vmdhcp/service-process';

/** `/ipams/namespace/network`: each address of the pool, and whether it is in use; `/caches/...`: MAC address to address. */
export function cacheDumpPages(view: ClusterView): Readonly<Record<string, StatusPage>> {
  return {
    '/ipams/': ({ rest }) => answer(view, rest, addressesOf),
    '/caches/': ({ rest }) => answer(view, rest, clientsOf),
  };
}

function answer(
  view: ClusterView,
  network: string,
  entriesOf: (pool: PoolView) => Iterable<readonly [string, string]>,
): PageAnswer {
  const pool = view.servingPool(network);
  if (pool === undefined) return { status: 500, contentType: 'text/plain', body: [`network ${network} does not exist\n`] };
  return { status: 200, contentType: 'application/json', body: jsonObject(entriesOf(pool)) };
}

function* addressesOf({ reading, addressOf }: PoolView): Generator<readonly [string, string]> {
  if (!reading.ok) return;
  const { range, unavailable } = reading.pool;
  const taken = new Set(addressOf.values());
  for (let address = range.first; address <= range.last; address++) {
    if (unavailable.some((one) => rangeContains(one, address))) continue;
    yield [formatIpv4Address(address), String(taken.has(address))];
  }
}

function* clientsOf({ addressOf }: PoolView): Generator<readonly [string, string]> {
  for (const [macAddress, address] of addressOf) yield [macAddress, formatIpv4Address(address)];
}

function* jsonObject(entries: Iterable<readonly [string, string]>): Generator<string> {
  let separator = '{';
  for (const [key, value] of entries) {
    yield `${separator}\n${JSON.stringify(key)}:${JSON.stringify(value)}`;
    separator = ',';
  }
  yield separator === '{' ? '{}\n' : '\n}\n';
}
