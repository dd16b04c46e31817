/** `npm run demo`. Runs inside namespaces of its own; nothing of the host is touched, and everything is gone at its end. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  AGENT_BIN,
  acquire,
  type ClientName,
  endDhclient,
  isInstalled,
  Lab,
  LabAgent,
  type Machine,
  type RealProgram,
  runAgent,
} from '@vmdhcp/lab';
import colors from 'picocolors';
import { LiveView } from './live-view.js';

const POOLS = readFileSync(fileURLToPath(new URL('../../../examples/two-networks.yaml', import.meta.url)), 'utf8');

/** Who asks on which machine; one of our own asks where a real client is not installed. */
const GUESTS: readonly {
  readonly name: string;
  readonly network: 'blue' | 'green';
  readonly macAddress: string;
  readonly client: RealProgram & ClientName;
}[] = [
  { name: 'vm-a', network: 'blue', macAddress: '02:00:00:00:48:01', client: 'udhcpc' },
  { name: 'vm-b', network: 'blue', macAddress: '02:00:00:00:48:02', client: 'dhclient' },
  { name: 'vm-c', network: 'green', macAddress: '02:00:00:00:49:01', client: 'dhcpcd' },
  { name: 'vm-d', network: 'green', macAddress: '02:00:00:00:49:02', client: 'udhcpc' },
  { name: 'printer', network: 'blue', macAddress: '02:00:00:00:48:99', client: 'udhcpc' },
];

const view = new LiveView();
const lab = new Lab();
let ending = false;
process.once('SIGINT', () => void end(130));
process.once('SIGTERM', () => void end(143));
try {
  await demo();
  await end(0);
} catch (error) {
  // Ctrl-C ends the machines too: what they say of it is no news.
  if (!ending) view.line(colors.red(error instanceof Error ? error.message : String(error)));
  await end(1);
}

async function demo(): Promise<void> {
  view.step('Two networks, five machines and one agent that serves examples/two-networks.yaml');
  lab.addNetwork('br-blue', '192.168.48.2/24');
  lab.addNetwork('br-green', '172.20.0.2/16');
  const machines = new Map(
    GUESTS.map(({ name, network, macAddress }) => [name, lab.addMachine(name, { network: `br-${network}`, macAddress })]),
  );
  for (const { name, network, client } of GUESTS) {
    view.set({ machine: name, network, client: isInstalled(client) ? client : 'vmdhcp-agent probe', address: '-', note: '' });
  }
  const agent = await LabAgent.start(lab, { pools: POOLS, interfaces: ['blue=br-blue', 'green=br-green'], onLine: showEvent });
  view.line('the agent is ready: every pool is served');

  view.step('Every machine asks for an address');
  for (const guest of GUESTS) await ask(guest.name, guest.client, machines.get(guest.name) as Machine);

  view.step('A machine claims an address that is not its own');
  const claim = await runAgent(machines.get('vm-a') as Machine, 'probe', '--interface', 'eth0', '--claim', '192.168.48.77');
  view.line(`vm-a claims 192.168.48.77: ${colors.yellow(claim.output)}`);

  view.step('The pool changes: another name server, half the lease time');
  const startedAt = performance.now();
  agent.setPools(POOLS.replace('dns: [1.1.1.1]', 'dns: [8.8.8.8]').replace('leaseTime: 600', 'leaseTime: 300'));
  await agent.process.line('the changed pools file is in effect');
  view.line(`in effect after ${Math.round(performance.now() - startedAt)} ms, without a restart`);
  const offer = await runAgent(machines.get('vm-a') as Machine, 'probe', '--interface', 'eth0', '--timeout', '0.3');
  view.line(`vm-a is told: ${offer.output}`);

  view.step('A change that is wrong is refused, and says why');
  agent.setPools(POOLS.replace('cidr: 192.168.48.0/24', 'cidr: 192.168.48.0/33'));
  const refusal = JSON.parse(await agent.process.line('is refused')) as { problems: string[] };
  for (const problem of refusal.problems) view.line(colors.yellow(problem.replace(/^.*\/(?=pools-)/, '')));

  view.step('The agent is killed (SIGKILL) and started again');
  agent.setPools(POOLS);
  await agent.restart('SIGKILL');
  await ask('vm-d', 'udhcpc', machines.get('vm-d') as Machine);

  view.step('What the agent knows: vmdhcp-agent leases');
  const leases = lab.start(process.execPath, [AGENT_BIN, 'leases', '--agent', agent.url.slice('http://'.length)]);
  await leases.ended();
  for (const line of leases.lines) view.line(line);
  const exchanges = await agent.metric('vmdhcp_agent_messages_total{type="request",outcome="ack",reason=""}');
  view.line(`requests acknowledged since the restart: ${exchanges}; more in /metrics`);
}

async function ask(name: string, client: RealProgram & ClientName, machine: Machine): Promise<void> {
  const startedAt = performance.now();
  const address = isInstalled(client) ? await askReal(client, machine) : await askOwn(machine);
  const tookMs = Math.round(performance.now() - startedAt);
  view.update(name, { address: address ?? 'none', note: `after ${tookMs} ms` });
}

async function askReal(client: ClientName, machine: Machine): Promise<string | undefined> {
  const { address } = await acquire(client, machine);
  await endDhclient(machine);
  return address;
}

/** The agent's own probe as a client, and `ip` to set what it got. */
async function askOwn(machine: Machine): Promise<string | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--request', '--json');
  const { answers } = JSON.parse(output) as { answers: { type: string; address: string }[] };
  const address = answers.findLast(({ type }) => type === 'ack')?.address;
  if (address !== undefined) machine.ip('address', 'replace', `${address}/24`, 'dev', 'eth0');
  return address;
}

/** The agent's own log, for people. */
function showEvent(line: string): void {
  if (ending) return;
  if (!line.startsWith('{')) {
    view.line(line);
    return;
  }
  const { msg, event, mac, address, reason } = JSON.parse(line) as Record<string, string | undefined>;
  const guest = GUESTS.find(({ macAddress }) => macAddress === mac)?.name ?? mac;
  if (event === undefined) view.line(colors.dim(`agent: ${msg}`));
  else view.line(`${colors.green('agent')}: ${event} ${guest} ${address ?? ''}${reason === undefined ? '' : ` (${reason})`}`);
}

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  view.end();
  await lab.dispose();
  process.exit(exitCode);
}
