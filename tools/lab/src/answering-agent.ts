/** What stands for `vmdhcp-agent clients` in simulated pods: every client got the address that its pool records for it. */
import { PassThrough, Readable } from 'node:stream';
import { readTexts } from '@vmdhcp/kube-runtime';
import type { ExecInPod, KubeSimulator } from '@vmdhcp/kube-simulator';

/** @param simulator - undefined: it does not run yet. */
export function answerForAgents(simulator: () => KubeSimulator | undefined): ExecInPod {
  return ({ pod, command }) => {
    const wordAfter = (name: string): string => command[command.indexOf(name) + 1] ?? '';
    const [namespace = '', name = ''] = wordAfter('--pool').split('/');
    const pools = { group: 'network.harvesterhci.io', resource: 'ippools', namespace, name };
    const allocated = readTexts(simulator()?.client.get(pools), 'status', 'ipv4', 'allocated');
    const clients = Object.entries(allocated)
      .filter(([, mac]) => mac === wordAfter('--mac'))
      .map(([address, mac]) => servedClient(address, { mac, pool: wordAfter('--pool'), interface: 'net1' }));
    const document = { agent: pod.metadata.name, sinceMs: Date.now() - 60_000, clients };
    return {
      stdin: new PassThrough().resume(),
      stdout: Readable.from([`${JSON.stringify(document)}\n`]).map((text) => Buffer.from(text as string)),
      stderr: Readable.from([]),
      exited: Promise.resolve(0),
      kill: () => undefined,
    };
  };
}

function servedClient(
  address: string,
  client: { readonly mac: string; readonly pool: string; readonly interface: string },
): object {
  const atMs = Date.now() - 12_000;
  const packets = [
    { received: 'DISCOVER', answer: `OFFER ${address}` },
    { received: 'REQUEST', answer: `ACK ${address}` },
  ];
  const counts = { messages: { DISCOVER: 1, REQUEST: 1 }, answers: { OFFER: 1, ACK: 1 }, unanswered: {}, lastAtMs: atMs };
  return { ...client, ...counts, last: packets.map((packet) => ({ atMs, from: '0.0.0.0', reason: null, ...packet })) };
}
