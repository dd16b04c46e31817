/**
 * A stand-in for `vmdhcp-agent clients` in simulated pods: every client got the address that its pool records for it, and one of `shop/vlan-48` is
 * not known.
 */
import { PassThrough, Readable } from 'node:stream';
import { readList, readText, readTexts } from '@vmdhcp/kube-runtime';
import type { ExecInPod, KubeSimulator, Pod } from '@vmdhcp/kube-simulator';

const MAC_ADDRESS = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;
/** A machine that asks for an address and has none. */
const UNKNOWN = { pool: 'shop/vlan-48', mac: '02:00:5e:00:00:99' };
const LAST_MS = 12_000;

interface Place {
  readonly pool: string;
  readonly mac: string;
  readonly interface: string;
}

/** @param simulator - undefined: it does not run yet. */
export function answerForAgents(simulator: () => KubeSimulator | undefined): ExecInPod {
  return ({ pod, command }) => {
    const wordAfter = (name: string): string | undefined =>
      command.includes(name) ? command[command.indexOf(name) + 1] : undefined;
    const [pool, wanted] = [wordAfter('--pool'), wordAfter('--mac')];
    const clients = (pool === undefined ? poolsOf(pod) : [pool])
      .flatMap((key) => clientsOf(key, simulator()))
      .filter(({ mac }) => wanted === undefined || mac === wanted);
    const pools = [...Map.groupBy(clients, (one) => one.pool)].map(([key, ofPool]) => ({
      ...total(ofPool),
      pool: key,
      interface: 'net1',
    }));
    const document = { agent: pod.metadata.name, sinceMs: Date.now() - 60_000, pools, clients };
    return {
      stdin: new PassThrough().resume(),
      stdout: Readable.from([`${JSON.stringify(document)}\n`]).map((text) => Buffer.from(text as string)),
      stderr: Readable.from([]),
      exited: Promise.resolve(0),
      kill: () => undefined,
    };
  };
}

/** The pools in the pod's configuration. */
function poolsOf({ spec }: Pod): readonly string[] {
  const [container] = readList(spec, 'containers');
  const references = readList(container, 'env').find((one) => readText(one, 'name') === 'IPPOOL_REFS_JSON');
  return JSON.parse(readText(references, 'value') ?? '[]') as readonly string[];
}

type Client = ReturnType<typeof servedClient> | ReturnType<typeof unknownClient>;

function clientsOf(pool: string, simulator: KubeSimulator | undefined): readonly Client[] {
  const [namespace = '', name = ''] = pool.split('/');
  const object = simulator?.client.get({ group: 'network.harvesterhci.io', resource: 'ippools', namespace, name });
  const served = Object.entries(readTexts(object, 'status', 'ipv4', 'allocated'))
    .filter(([, mac]) => MAC_ADDRESS.test(mac))
    .map(([address, mac]) => servedClient(address, { mac, pool, interface: 'net1' }));
  return pool === UNKNOWN.pool ? [...served, unknownClient({ ...UNKNOWN, interface: 'net1' })] : served;
}

function servedClient(address: string, client: Place) {
  const atMs = Date.now() - LAST_MS;
  const packets = [
    { received: 'DISCOVER', answer: `OFFER ${address}` },
    { received: 'REQUEST', answer: `ACK ${address}` },
  ];
  const counts = { messages: { DISCOVER: 1, REQUEST: 1 }, answers: { OFFER: 1, ACK: 1 }, unanswered: {}, lastAtMs: atMs };
  return { ...client, ...counts, last: packets.map((packet) => ({ atMs, from: '0.0.0.0', reason: null, ...packet })) };
}

function unknownClient(client: Place) {
  const atMs = Date.now() - LAST_MS;
  const packet = { atMs, from: '0.0.0.0', received: 'DISCOVER', answer: null, reason: 'unknown-client' };
  const counts = { messages: { DISCOVER: 9 }, answers: {}, unanswered: { 'unknown-client': 9 }, lastAtMs: atMs };
  return { ...client, ...counts, last: [packet, packet] };
}

/** As an agent counts for a pool. */
function total(clients: readonly Client[]): object {
  const sum = (name: 'messages' | 'answers' | 'unanswered'): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const client of clients)
      for (const [key, count] of Object.entries<number>(client[name])) counts[key] = (counts[key] ?? 0) + count;
    return counts;
  };
  return { messages: sum('messages'), answers: sum('answers'), unanswered: sum('unanswered'), lastAtMs: Date.now() - LAST_MS };
}
