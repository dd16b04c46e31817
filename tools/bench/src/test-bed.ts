import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Lab, LabProcess, run, waitFor } from '@vmdhcp/lab';
import type { LoadResult, LoadSettings } from './load-generator.js';
import { type ProcessUsage, usageOf } from './process-usage.js';
import { SERVER_ADDRESS } from './served-network.js';
import type { Command } from './servers.js';
import type { StormResult, StormSettings } from './storm-clients.js';

const LOAD = fileURLToPath(new URL('./load.js', import.meta.url));
const STORM = fileURLToPath(new URL('./storm-clients.js', import.meta.url));
const FIRST_REPLY = fileURLToPath(new URL('./first-reply.js', import.meta.url));
export const RELAY_ADDRESS = '10.77.255.254';
/** The network namespace that clients are in. */
const CLIENTS_NAMESPACE = 'clients';

/** Load and what it took the server. */
export interface Measurement extends LoadResult {
  /** Microseconds per exchange. */
  readonly userMicroseconds: number;
  readonly kernelMicroseconds: number;
  /** Share of the time that the server had its processor; 1: it is what limits the exchanges, less: the clients do. */
  readonly busyShare: number;
  readonly residentMegabytes: number;
}

/** Pairs of interfaces, `srv0` here and `cli0` with the clients; the server has one processor, the clients the other. */
export class TestBed {
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
    run('ip', ['netns', 'add', CLIENTS_NAMESPACE]);
    run('ip', ['-n', CLIENTS_NAMESPACE, 'link', 'set', 'lo', 'up']);
  }

  /** Adds a pair; the server's end gets an address, and the first one of the clients is the relay. */
  addPair(index: number, serverAddress: string, relayAddress?: string): void {
    run('ip', ['link', 'add', `srv${index}`, 'type', 'veth', 'peer', 'name', `cli${index}`, 'netns', CLIENTS_NAMESPACE]);
    run('ip', ['address', 'add', `${serverAddress}/16`, 'dev', `srv${index}`]);
    run('ip', ['link', 'set', `srv${index}`, 'up']);
    if (relayAddress !== undefined)
      run('ip', ['-n', CLIENTS_NAMESPACE, 'address', 'add', `${relayAddress}/16`, 'dev', `cli${index}`]);
    run('ip', ['-n', CLIENTS_NAMESPACE, 'link', 'set', `cli${index}`, 'up']);
  }

  /** Starts a server on the first processor and waits until it answers a client. */
  async startServer({ command, parameters }: Command, interfaces: readonly string[]): Promise<LabProcess> {
    const server = new LabProcess('taskset', ['-c', '0', command, ...parameters]);
    await waitFor(
      'the server to answer',
      async () => {
        if (server.hasEnded) throw new Error(`the server ended:\n${server.lines.slice(-20).join('\n')}`);
        const once = {
          mode: 'broadcast',
          interfaces,
          window: interfaces.length,
          // One exchange or a few: the first seconds under load are measured after it.
          seconds: 0.02,
          clients: interfaces.length,
        } as const;
        return (await this.#generate({ ...once, relayAddress: RELAY_ADDRESS, serverAddress: SERVER_ADDRESS })).exchanges > 0;
      },
      60_000,
    );
    return server;
  }

  /** When a server that is starting answers this client for the first time, in milliseconds since 1970. */
  async firstReply(interfaceName: string, macAddress: string, server: LabProcess): Promise<number> {
    const client = this.#lab.start('ip', [
      ...['netns', 'exec', CLIENTS_NAMESPACE, process.execPath, FIRST_REPLY, interfaceName, macAddress],
    ]);
    await Promise.race([client.ended(60_000), server.ended(60_000)]);
    if (server.hasEnded) throw new Error(`the server ended:\n${server.lines.slice(-20).join('\n')}`);
    return Number(client.lines.at(-1));
  }

  async measure(server: LabProcess, settings: Omit<LoadSettings, 'relayAddress' | 'serverAddress'>): Promise<Measurement> {
    const before = usageOf(server.pid);
    const result = await this.#generate({ ...settings, relayAddress: RELAY_ADDRESS, serverAddress: SERVER_ADDRESS });
    const after: ProcessUsage = usageOf(server.pid);
    const exchanges = Math.max(result.exchanges, 1);
    const userSeconds = after.userSeconds - before.userSeconds;
    const kernelSeconds = after.kernelSeconds - before.kernelSeconds;
    return {
      ...result,
      userMicroseconds: (userSeconds * 1e6) / exchanges,
      kernelMicroseconds: (kernelSeconds * 1e6) / exchanges,
      busyShare: Math.min((userSeconds + kernelSeconds) / settings.seconds, 1),
      residentMegabytes: after.residentMegabytes,
    };
  }

  /** The load alone, whatever becomes of the server meanwhile. */
  load(settings: Omit<LoadSettings, 'relayAddress' | 'serverAddress'>): Promise<LoadResult> {
    return this.#generate({ ...settings, relayAddress: RELAY_ADDRESS, serverAddress: SERVER_ADDRESS });
  }

  /** Removes the clients, and with them every pair. */
  dispose(): void {
    run('ip', ['netns', 'delete', CLIENTS_NAMESPACE]);
  }

  /** An empty folder in memory. */
  folder(): string {
    return mkdtempSync(join(this.#lab.folder, 'server-'));
  }

  /** Clients that are switched on at once. */
  storm(settings: StormSettings): Promise<StormResult> {
    return this.#run<StormResult>(STORM, settings, settings.mostSeconds);
  }

  #generate(settings: LoadSettings): Promise<LoadResult> {
    return this.#run<LoadResult>(LOAD, settings, settings.seconds);
  }

  async #run<Result>(program: string, settings: object, seconds: number): Promise<Result> {
    const load = this.#lab.start('taskset', [
      '-c',
      '1',
      'ip',
      'netns',
      'exec',
      CLIENTS_NAMESPACE,
      process.execPath,
      program,
      JSON.stringify(settings),
    ]);
    await load.ended((seconds + 20) * 1000);
    const result = load.lines.find((line) => line.startsWith('{'));
    if (result === undefined) throw new Error(`the load could not be generated:\n${load.lines.join('\n')}`);
    return JSON.parse(result) as Result;
  }
}
