/**
 * Addresses that an interface has for so many seconds at a time. The kernel takes them away by itself when they are not
 * renewed, so that a process that is frozen or cut off does not keep an address that somebody else has by then.
 */
import { spawn } from 'node:child_process';
import { hasAddress } from './interface-addresses.js';

/** What takes longer hangs: a lead must not be spent waiting for it. */
const TIMEOUT_MS = 2_000;

export interface InterfaceAddress {
  readonly interfaceName: string;
  /** With prefix length, as in 192.168.48.2/24. */
  readonly address: string;
}

/** Gives these addresses for so many seconds from now, or prolongs them. What fails is in the error; the rest is done. */
export async function leaseAddresses(addresses: readonly InterfaceAddress[], seconds: number): Promise<void> {
  const lines = addresses.flatMap(({ interfaceName, address }) => [
    `address replace ${address} dev ${interfaceName} valid_lft ${seconds} preferred_lft ${seconds}`,
    `link set ${interfaceName} up`,
  ]);
  await ipBatch(lines);
}

/** Takes the addresses away; what is gone already is no failure. False if they may still be there. */
export async function dropAddresses(addresses: readonly InterfaceAddress[]): Promise<boolean> {
  const lines = addresses.map(({ interfaceName, address }) => `address delete ${address} dev ${interfaceName}`);
  await ipBatch(lines).catch(() => undefined);
  return !addresses.some(({ interfaceName, address }) => hasAddress(interfaceName, address.split('/')[0] ?? ''));
}

async function ipBatch(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const child = spawn('ip', ['-force', '-batch', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 2_000) said += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${lines.join('\n')}\n`);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`ip cannot be started: ${error.message}; install iproute2`, { cause: error })));
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`ip: ${said.trim() || `exit code ${code}`}`);
}
