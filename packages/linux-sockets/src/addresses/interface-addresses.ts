import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True if the interface has the IPv4 address; false may also mean that the interface is down or has no carrier. */
export function hasAddress(interfaceName: string, address: string): boolean {
  return (networkInterfaces()[interfaceName] ?? []).some((entry) => entry.family === 'IPv4' && entry.address === address);
}

/** True if the interface has the IPv4 address, whatever its state and prefix length. @throws the error output of `ip`. */
export async function lookForAddress(interfaceName: string, address: string): Promise<boolean> {
  if (hasAddress(interfaceName, address)) return true;
  const shown = await ip(['-4', '-o', 'address', 'show', 'dev', interfaceName]);
  return shown.split('\n').some((line) => line.includes(` inet ${address}/`));
}

/** True if the interface has the address (`10.0.0.1/24`) without an end, as a person adds it. @throws the error output of `ip`. */
export async function hasAddressForGood(interfaceName: string, addressWithPrefix: string): Promise<boolean> {
  const shown = await ip(['-4', '-o', 'address', 'show', 'dev', interfaceName]);
  return shown.split('\n').some((line) => line.includes(` inet ${addressWithPrefix} `) && line.includes('valid_lft forever'));
}

/**
 * Gives the interface the address (`10.0.0.1/24`) for so many seconds and brings it up. False if it has the address already: it is not changed then.
 * @throws the error output of `ip`.
 */
export async function addAddress(interfaceName: string, addressWithPrefix: string, seconds: number): Promise<boolean> {
  const lifetime = ['valid_lft', String(seconds), 'preferred_lft', String(seconds)];
  try {
    await ip(['address', 'add', addressWithPrefix, 'dev', interfaceName, ...lifetime]);
  } catch (error) {
    if (/File exists|already assigned/.test((error as Error).message)) return false;
    throw error;
  }
  await ip(['link', 'set', interfaceName, 'up']);
  return true;
}

async function ip(parameters: readonly string[]): Promise<string> {
  try {
    return (await run('ip', [...parameters])).stdout;
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`ip ${parameters.join(' ')} failed: ${output || 'is iproute2 installed?'}`, { cause: error });
  }
}
