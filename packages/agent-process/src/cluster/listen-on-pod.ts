import { lookup } from 'node:dns/promises';
import { openTcpListener } from '@vmdhcp/linux-sockets';
import { CommandError, ExitCode, formatListenAddress, type ListenAddress, type ListeningSocket } from '@vmdhcp/service-process';
import { type PodNetwork, podInterface } from './pod-interface.js';

/**
 * Listens only on the interface of the pod that has the address: machines on the networks that the pod serves cannot connect.
 * @param option - the option that set the address, for the error message.
 * @throws CommandError if it cannot listen there.
 */
export async function listenOnPod(
  where: ListenAddress,
  network: PodNetwork,
  option = '--http',
): Promise<ListeningSocket & { interfaceName: string }> {
  const fail = (why: string, cause?: unknown) =>
    new CommandError(
      `cannot listen on ${formatListenAddress(where)}: ${why}; give another ${option}, or ${option} off`,
      ExitCode.unavailable,
      { cause },
    );
  const { address: host } = await lookup(where.host).catch((error: unknown) => {
    throw fail(String(error), error);
  });
  const interfaceName = podInterface(host, network);
  if (interfaceName === undefined) throw fail(`no interface of the pod has ${host}; set POD_IP to the address of the pod`);
  try {
    return { fd: openTcpListener({ host, port: where.port, interfaceName }), interfaceName };
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error), error);
  }
}
