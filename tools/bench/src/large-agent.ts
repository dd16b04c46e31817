/** What a change of a large pool costs an agent, on the thread that answers clients: between the event and the answer nothing else happens. */
import { encodeClientPacket } from '@vmdhcp/dhcp-agent';
import { FakeGroupLease, FakeNetwork, FakePod } from '@vmdhcp/dhcp-agent/testing';
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject, WatchHandlers } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { ipPool } from '@vmdhcp/lab';
import { macOf } from './large-objects.js';

export interface AgentPoolRow {
  readonly addresses: number;
  /** The size of the text of one event. */
  readonly megabytes: number;
  /** From the text to an object. */
  readonly parsed: Spread;
  /** From the object to a server that answers by it. */
  readonly served: Spread;
  /** The answer to the client that is new. */
  readonly answered: Spread;
}

/** Milliseconds. */
export interface Spread {
  readonly median: number;
  readonly most: number;
}

const KEY = 'default/net';
const INTERFACE = 'net1';
const ROUNDS = 15;
const FIRST_ADDRESS = parseIpv4Address('10.0.1.0') ?? 0;
const LEADER_AFTER_MS = 10_000;

/** One client more, again and again, in a pool of so many addresses. */
export async function measureAgentPool(addresses: number): Promise<AgentPoolRow> {
  const { watch, network } = await startAgent(addresses);
  const [parsed, served, answered]: [number[], number[], number[]] = [[], [], []];
  let answers = 0;
  network.onReply = () => answers++;
  for (let round = 0; round < ROUNDS; round++) {
    const text = eventOf(addresses + round + 1);
    const packet = encodeClientPacket({ type: 'discover', macAddress: macOf(addresses + round), xid: round + 1 });
    const times = [performance.now()];
    const object = JSON.parse(text) as KubernetesObject;
    times.push(performance.now());
    watch.onEvent({ type: 'modified', object });
    times.push(performance.now());
    network.broadcast(packet);
    times.push(performance.now());
    const [parsedMs = 0, servedMs = 0, answeredMs = 0] = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    parsed.push(parsedMs);
    served.push(servedMs);
    answered.push(answeredMs);
  }
  if (answers !== ROUNDS) throw new Error(`${answers} of ${ROUNDS} new clients were answered`);
  const megabytes = eventOf(addresses).length / 1e6;
  return { addresses, megabytes, parsed: spread(parsed), served: spread(served), answered: spread(answered) };
}

async function startAgent(
  addresses: number,
): Promise<{ readonly watch: WatchHandlers<KubernetesObject>; readonly network: FakeNetwork }> {
  const clock = new FakeClock();
  const network = new FakeNetwork();
  const opened = Promise.withResolvers<WatchHandlers<KubernetesObject>>();
  const config = {
    interfaceName: INTERFACE,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/16',
    ipPoolName: KEY,
    ipPoolRef: KEY,
    nadName: KEY,
  };
  const pod = new FakePod({
    identity: 'agent',
    clock,
    lease: new FakeGroupLease(clock),
    configs: [config],
    networks: new Map([[INTERFACE, network]]),
    poolSource: () => ({
      list: async () => ({ items: [JSON.parse(eventOf(addresses)) as KubernetesObject], resourceVersion: '1' }),
      watch: (_, handlers) => {
        opened.resolve(handlers);
        return () => undefined;
      },
    }),
  });
  pod.agent.start();
  await clock.advance(LEADER_AFTER_MS);
  return { watch: await opened.promise, network };
}

/** The IPPool with so many clients, as the API server sends it: keys in order. */
function eventOf(addresses: number): string {
  const entries = Array.from(
    { length: addresses },
    (_, index) => [formatIpv4Address(FIRST_ADDRESS + index), macOf(index)] as const,
  );
  const allocated = Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const range = { start: '10.0.1.0', end: '10.0.254.255' };
  const pool = ipPool(KEY, {
    ipv4Config: { cidr: '10.0.0.0/16', serverIP: '10.0.0.2', pool: range },
    spec: { conflictProbe: 'Disabled' },
  });
  const metadata = { ...pool.metadata, uid: 'uid', generation: 1, resourceVersion: String(addresses) };
  return JSON.stringify({ ...pool, metadata, status: { ipv4: { allocated, used: addresses, available: 1 } } });
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, most: sorted.at(-1) ?? 0 };
}
