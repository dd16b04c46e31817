import { describeServerAnswer, type InterfaceProbeSettings, openDhcpProbe } from '@vmdhcp/agent-process/probe';
import type { DhcpProbe, ServerAnswer } from '@vmdhcp/dhcp-agent/packet-path';
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { SocketError } from '@vmdhcp/linux-sockets';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';

export interface ProbeOptions {
  readonly interface: string;
  readonly mac?: MacAddress;
  readonly timeout: number;
  readonly request?: boolean;
  readonly claim?: string;
  readonly json?: boolean;
}

/** Sends requests to the DHCP servers on an interface, and prints their replies; sets the exit code. */
export async function askServers(options: ProbeOptions): Promise<void> {
  const { interface: interfaceName, mac, timeout, json = false } = options;
  const client = open({ interfaceName, timeoutMs: timeout * 1000, ...(mac !== undefined && { macAddress: mac }) });
  try {
    const answers = await ask(client, options);
    if (json) process.stdout.write(`${printableJson({ macAddress: client.macAddress, answers }, 2)}\n`);
    else
      process.stdout.write(
        answers.length === 0
          ? `no server answers ${client.macAddress} on ${interfaceName}\n`
          : answers.map(describeServerAnswer).join(''),
      );
    const last = answers.at(-1);
    const wanted = options.request || options.claim !== undefined ? last?.type === 'ack' : last !== undefined;
    if (!wanted) process.exitCode = ExitCode.failed;
  } finally {
    client.close();
  }
}

function open(settings: InterfaceProbeSettings): DhcpProbe {
  try {
    return openDhcpProbe(settings);
  } catch (error) {
    if (error instanceof SocketError) throw new CommandError(error.message, ExitCode.unavailable, { cause: error });
    throw error;
  }
}

async function ask(client: DhcpProbe, { request = false, claim }: ProbeOptions): Promise<ServerAnswer[]> {
  if (claim !== undefined) return toList(await client.claim(claim));
  const offers = await client.discover(request);
  const [first] = offers;
  if (!request || first === undefined || first.type === 'ack') return offers;
  return [...offers, ...toList(await client.request(first))];
}

function toList(answer: ServerAnswer | undefined): ServerAnswer[] {
  return answer === undefined ? [] : [answer];
}
