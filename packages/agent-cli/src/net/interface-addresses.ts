import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True if the interface has the IPv4 address. */
export function hasAddress(interfaceName: string, address: string): boolean {
  return (networkInterfaces()[interfaceName] ?? []).some((entry) => entry.family === 'IPv4' && entry.address === address);
}

/** Gives the interface the address (`10.0.0.1/24`) and brings it up. @throws what `ip` says, where it fails. */
export async function addAddress(interfaceName: string, addressWithPrefix: string): Promise<void> {
  await ip(['address', 'replace', addressWithPrefix, 'dev', interfaceName]);
  await ip(['link', 'set', interfaceName, 'up']);
}

/** Takes the address away again; an interface or address that is gone is no failure. */
export async function removeAddress(interfaceName: string, addressWithPrefix: string): Promise<void> {
  await ip(['address', 'delete', addressWithPrefix, 'dev', interfaceName]).catch(() => undefined);
}

async function ip(parameters: readonly string[]): Promise<void> {
  try {
    await run('ip', [...parameters]);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`ip ${parameters.join(' ')} failed: ${said || 'is iproute2 installed?'}`, { cause: error });
  }
}
