/** What clients sent and got, and their packets, asked of a running agent. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  acquire,
  has,
  Lab,
  LabAgent,
  type LabProcess,
  type Machine,
  needs,
  poolsYaml,
  run,
  startClient,
  waitFor,
} from '../src/index.js';

const [MAC_A, MAC_B, UNKNOWN] = ['02:00:00:00:48:01', '02:00:00:00:48:02', '02:00:00:00:48:99'];
const POOLS = poolsYaml(
  [{ name: 'net-48', prefix: '192.168.48', settings: ['leaseTime: 600'] }],
  [
    { name: 'vm-a', pool: 'net-48', macAddress: MAC_A },
    { name: 'vm-b', pool: 'net-48', macAddress: MAC_B },
  ],
);

interface ShownClient {
  readonly mac: string;
  readonly pool: string;
  readonly standing: string;
  readonly messages: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  readonly unanswered: Readonly<Record<string, number>>;
  readonly last: readonly { readonly received: string; readonly answer: string | null; readonly reason: string | null }[];
}

let lab: Lab;
let agent: LabAgent;
const machines = new Map<string, Machine>();
const machine = (name: string) => machines.get(name) as Machine;

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  for (const [name, macAddress] of Object.entries({ 'vm-a': MAC_A, 'vm-b': MAC_B, 'vm-c': UNKNOWN }))
    machines.set(name, lab.addMachine(name, { network: 'br48', macAddress }));
  agent = await LabAgent.start(lab, {
    pools: POOLS.replace('spec:', 'spec:\n  conflictProbe: Disabled'),
    interfaces: ['net-48=br48'],
  });
});

afterAll(() => lab?.dispose());

/** A command that asks the agent. */
function ask(...parameters: readonly string[]): LabProcess {
  return lab.start(process.execPath, [AGENT_BIN, ...parameters]);
}

async function askAgent(
  ...parameters: readonly string[]
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const asked = ask(...parameters);
  const { code } = await asked.ended();
  return { code, lines: asked.lines };
}

/** As root it would become another user, and the namespaces of tests have only one. */
const readByTcpdump = (file: string) => run('unshare', ['--user', 'tcpdump', '-n', '-v', '-r', file]);

const ofAgent = () => ['--state', agent.statePath];

async function clients(...parameters: readonly string[]): Promise<ShownClient[]> {
  const { lines } = await askAgent('clients', '--json', ...ofAgent(), ...parameters);
  return (JSON.parse(lines.join('\n')) as { clients: ShownClient[] }).clients;
}

describe.skipIf(!has('udhcpc'))(`vmdhcp-agent clients${needs('udhcpc')}`, () => {
  it('shows the exchange of a client that got an address, and why an unknown client got no answer', async () => {
    await acquire('udhcpc', machine('vm-a'));
    const refused = startClient('udhcpc', machine('vm-c'), { once: true, parameters: ['-t', '1', '-T', '1'] });
    await refused.process.ended();
    // The client may have given up before the agent read its message.
    const shown = await waitFor('both clients', async () => {
      const noted = await clients('--pool', 'default/net-48');
      return noted.length === 2 ? noted : undefined;
    });
    const known = shown.find(({ mac }) => mac === MAC_A);
    expect(known).toMatchObject({
      pool: 'default/net-48',
      standing: 'declared',
      answers: { OFFER: expect.any(Number), ACK: expect.any(Number) },
      unanswered: {},
    });
    // A client that waits for long, on a busy machine, sends a message again.
    for (const packet of [
      { received: 'DISCOVER', answer: 'OFFER 192.168.48.10', reason: null },
      { received: 'REQUEST', answer: 'ACK 192.168.48.10', reason: null },
    ])
      expect(known?.last).toContainEqual(expect.objectContaining(packet));
    expect(shown.find(({ mac }) => mac === UNKNOWN)).toMatchObject({
      standing: 'unknown',
      messages: { DISCOVER: 1 },
      answers: {},
      unanswered: { 'unknown-client': 1 },
    });
    const { lines } = await askAgent('clients', ...ofAgent(), '--mac', UNKNOWN);
    expect(lines[1]).toMatch(/^02:00:00:00:48:99 {2}default\/net-48 .* DISCOVER 1 .* unknown-client 1$/);
    expect(lines.at(-1)).toMatch(/DISCOVER from 0\.0\.0\.0 -> no answer: unknown-client$/);
  });
});

describe.skipIf(!has('udhcpc', 'tcpdump'))(`vmdhcp-agent capture${needs('udhcpc', 'tcpdump')}`, () => {
  it('writes the exchange to a file that tcpdump reads, and prints it', async () => {
    const file = join(lab.folder, 'dhcp.pcapng');
    const capture = ask('capture', ...ofAgent(), '--pool', 'net-48', '--mac', MAC_B, '--write', file, '--decode');
    await waitFor('a capture that runs', () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await acquire('udhcpc', machine('vm-b'));
    await capture.line(' sent ACK ');
    capture.kill('SIGINT');
    expect(await capture.ended()).toMatchObject({ code: 0 });
    const types = capture.lines.map((line) => / (received|sent) ([A-Z]+) /.exec(line)?.slice(1).join(' ') ?? line);
    const exchange = ['received DISCOVER', 'sent OFFER', 'received REQUEST', 'sent ACK'];
    expect([...new Set(types)]).toEqual([...exchange, `${types.length - 1} packets captured`]);
    const read = readByTcpdump(file);
    for (const type of ['Discover', 'Offer', 'Request', 'ACK']) expect(read).toContain(`DHCP-Message (53), length 1: ${type}`);
    expect(read).toContain('192.168.48.2.67 > 192.168.48.11.68');
    expect(read).not.toContain('bad');
  });

  it('ends at SIGINT with a whole file, also to standard output', async () => {
    const file = join(lab.folder, 'stdout.pcapng');
    const command = `exec ${process.execPath} ${AGENT_BIN} capture ${ofAgent().join(' ')} --pool net-48 --write - > ${file}`;
    const capture = lab.start('sh', ['-c', command]);
    await waitFor('a capture that runs', () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
    capture.kill('SIGINT');
    expect(await capture.ended()).toMatchObject({ code: 0 });
    expect(capture.lines).toEqual(['0 packets captured']);
    // Statistics of the interface are the last block.
    expect(readFileSync(file).readUInt32LE(readFileSync(file).length - 4)).toBeGreaterThan(0);
    expect(readByTcpdump(file)).not.toContain('BOOTP');
  });

  it('refuses what cannot be captured, with what to do', async () => {
    const wrong = [
      { parameters: ['--pool', 'net-50'], code: 64, message: 'it has default/net-48' },
      { parameters: ['--pool', 'net-48', '--write', '-', '--decode'], code: 64, message: '--write FILE' },
      { parameters: ['--pool', 'net-48', '--seconds', '0'], code: 64, message: '1 to 3600' },
      { parameters: ['--pool', 'net-48', '--write', '/nowhere/file'], code: 73, message: 'give a writable file' },
      { parameters: ['--pool', 'net-48', '--state', '/nowhere'], code: 69, message: '--state directory' },
    ];
    const answers = await Promise.all(wrong.map(({ parameters }) => askAgent('capture', ...ofAgent(), ...parameters)));
    for (const [index, { code, message }] of wrong.entries()) {
      expect(answers[index]?.lines.join('\n')).toContain(message);
      expect(answers[index]?.code).toBe(code);
    }
  });
});
