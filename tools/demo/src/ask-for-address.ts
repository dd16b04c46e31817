import {
  acquire,
  type ClientName,
  endDhclient,
  isInstalled,
  type Machine,
  type RealProgram,
  runAgent,
  waitFor,
} from '@vmdhcp/lab';

/** The address that a client gets; the agent's own probe asks where the client is not installed. */
export async function askForAddress(client: RealProgram & ClientName, machine: Machine): Promise<string | undefined> {
  return isInstalled(client) ? await askReal(client, machine) : await waitFor('an answer', () => probe(machine));
}

async function askReal(client: ClientName, machine: Machine): Promise<string | undefined> {
  const { address } = await acquire(client, machine);
  await endDhclient(machine);
  return address;
}

/** The agent's own probe as a client. */
async function probe(machine: Machine): Promise<string | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--request', '--json', '--timeout', '0.3');
  const { answers } = JSON.parse(output) as { answers: { type: string; address: string }[] };
  return answers.findLast(({ type }) => type === 'ack')?.address;
}
