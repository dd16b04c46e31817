/**
 * Networks and machines for trying things out: bridges, and machines that are network namespaces with one interface. It
 * only works inside user, network and mount namespaces of its own (see `scripts/in-namespaces.mjs`), so that nothing of
 * the host can be touched, and everything is gone when the process ends.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LabProcess, type ProcessSettings } from './lab-process.js';

/** Set by whoever made the namespaces. */
export const LAB_VARIABLE = 'VMDHCP_LAB';
const RUN = '/run/vmdhcp-lab';
let lastInterface = 0;

export interface MachineSettings {
  readonly network: string;
  readonly macAddress: string;
}

export class Lab {
  /** For files of this lab; in memory. */
  readonly folder: string;
  readonly #networks = new Set<string>();
  readonly #machines = new Map<string, Machine>();
  readonly #processes = new Set<LabProcess>();

  /** @throws Error outside of namespaces of its own. */
  constructor() {
    if (process.env[LAB_VARIABLE] !== '1') throw new Error('the lab runs only in namespaces of its own: npm run test:lab');
    mkdirSync(RUN, { recursive: true });
    this.folder = mkdtempSync(join(RUN, 'lab-'));
  }

  /** Makes a network: a bridge, at most 15 characters long, with an address of the host on it if one is given. */
  addNetwork(name: string, hostAddress?: string): void {
    run('ip', ['link', 'add', name, 'type', 'bridge']);
    run('ip', ['link', 'set', name, 'up']);
    if (hostAddress !== undefined) run('ip', ['address', 'add', hostAddress, 'dev', name]);
    this.#networks.add(name);
  }

  /** Takes a network away, as when its interface is deleted on the host. */
  removeNetwork(name: string): void {
    run('ip', ['link', 'delete', name]);
    this.#networks.delete(name);
  }

  /** Makes a machine with one interface, `eth0`, that is up and has no address. */
  addMachine(name: string, settings: MachineSettings): Machine {
    const machine = new Machine(this, name, settings);
    this.#machines.set(name, machine);
    return machine;
  }

  removeMachine(name: string): void {
    run('ip', ['netns', 'delete', name]);
    this.#machines.delete(name);
  }

  /** Starts a program beside the networks; it is ended with the lab. */
  start(command: string, parameters: readonly string[], settings?: ProcessSettings): LabProcess {
    const started = new LabProcess(command, parameters, settings);
    this.#processes.add(started);
    return started;
  }

  /** Ends every process, machine and network of the lab. */
  async dispose(): Promise<void> {
    await Promise.all([...this.#processes].map((started) => started.stop()));
    for (const name of [...this.#machines.keys()]) this.removeMachine(name);
    for (const name of [...this.#networks]) this.removeNetwork(name);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A machine of a lab. */
export class Machine {
  readonly name: string;
  readonly macAddress: string;
  /** For files of this machine. */
  readonly folder: string;
  readonly #lab: Lab;

  constructor(lab: Lab, name: string, { network, macAddress }: MachineSettings) {
    this.name = name;
    this.macAddress = macAddress;
    this.#lab = lab;
    this.folder = join(lab.folder, name);
    mkdirSync(this.folder);
    run('ip', ['netns', 'add', name]);
    run('ip', ['link', 'add', `v-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'address', macAddress, 'netns', name]);
    this.attach(network);
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
  }

  /** Gives the machine a further interface that is up and has no address. */
  addInterface(interfaceName: string, network: string): void {
    const outside = `${++lastInterface}-${this.name}`.slice(0, 15);
    run('ip', ['link', 'add', outside, 'type', 'veth', 'peer', 'name', interfaceName, 'netns', this.name]);
    run('ip', ['link', 'set', outside, 'master', network, 'up']);
    run('ip', ['-n', this.name, 'link', 'set', interfaceName, 'up']);
  }

  /** Plugs the machine into a network. */
  attach(network: string): void {
    run('ip', ['link', 'set', `v-${this.name}`, 'master', network, 'up']);
  }

  /** The machine's IPv4 addresses with prefix length, as `ip` shows them. */
  addresses(interfaceName = 'eth0'): string[] {
    const [shown] = JSON.parse(run('ip', ['-n', this.name, '-4', '-json', 'address', 'show', interfaceName])) as {
      addr_info?: { local: string; prefixlen: number }[];
    }[];
    return (shown?.addr_info ?? []).map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  }

  /** Runs `ip` with these words inside the machine. */
  ip(...words: readonly string[]): string {
    return run('ip', ['-n', this.name, ...words]);
  }

  /** Starts a program inside the machine. */
  start(command: string, parameters: readonly string[], settings?: ProcessSettings): LabProcess {
    return this.#lab.start('ip', ['netns', 'exec', this.name, command, ...parameters], settings);
  }
}

/** Runs a short program. @throws Error with what it said */
export function run(command: string, parameters: readonly string[]): string {
  try {
    return execFileSync(command, [...parameters], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`${command} ${parameters.join(' ')}: ${said || String(error)}`, { cause: error });
  }
}
