import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to connections and to servers that ask for any port, so that it is still free when a program starts a second
 * later.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** Test files that run at the same time share a network: each has ports of its own. */
const PER_WORKER = 1_000;
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % (COUNT / PER_WORKER);
/** Another run beside this one begins elsewhere. */
let next = process.pid % PER_WORKER;

/** A TCP port of 127.0.0.1 that nothing listens on, and that no other call of this process returned lately. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PER_WORKER; tried++) {
    const port = FIRST + worker * PER_WORKER + (next++ % PER_WORKER);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST + worker * PER_WORKER} on is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
