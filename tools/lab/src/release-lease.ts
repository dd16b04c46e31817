import { join } from 'node:path';
import type { Machine } from './lab.js';

/** The machine releases its lease, without a DHCP client. @param server - the DHCP server's address. */
export async function releaseLease(machine: Machine, address: string, server: string): Promise<void> {
  const program = join(import.meta.dirname, 'send-forged-messages.js');
  await machine.start(process.execPath, [program, 'release', server, `${machine.macAddress}=${address}`]).ended();
}
