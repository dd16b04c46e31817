/**
 * Networks and machines for trying things out: bridges, and machines that are network namespaces with one interface. It
 * only works inside user, network and mount namespaces of its own (see `scripts/in-namespaces.mjs`), so that nothing of
 * the host can be touched, and everything is gone when the process ends.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LabProcess, type ProcessSettings } from './lab-process.js';
import { addressesIn } from './network-namespace.js';

/** Set by the program that made the namespaces. */
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
  readonly #disks = new Set<string>();

  /** @throws Error outside of namespaces of its own. */
  constructor() {
    if (process.env[LAB_VARIABLE] !== '1') throw new Error('the lab runs only in namespaces of its own: npm test -- lab');
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

  /** Removes a network, as when its interface is deleted on the host. */
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

  /** Makes a machine while this process goes on: with `interfaces` besides, by name, each on a network. */
  async createMachine(
    name: string,
    settings: MachineSettings & { readonly address: string; readonly interfaces: ReadonlyMap<string, string> },
  ): Promise<Machine> {
    const machine = await Machine.create(this, name, settings);
    this.#machines.set(name, machine);
    return machine;
  }

  removeMachine(name: string): void {
    for (const link of this.#linksOf(name)) tryRun('ip', ['link', 'delete', link]);
    run('ip', ['netns', 'delete', name]);
    this.#machines.delete(name);
  }

  /** Removes a machine while this process goes on. */
  async deleteMachine(name: string): Promise<void> {
    const links = this.#linksOf(name);
    this.#machines.delete(name);
    for (const link of links) await runIp(['link', 'delete', link]).catch(() => undefined);
    await runIp(['netns', 'delete', name]);
  }

  /**
   * The kernel ends a namespace, and with it the interfaces that lead to it, a moment later, or after minutes: while a connection
   * waits for a machine that is gone. The next machine of this name needs them at once.
   */
  #linksOf(name: string): readonly string[] {
    return this.#machines.get(name)?.links ?? [];
  }

  /** Makes a folder that is a disk of its own, at `path`. @param size - as `mount` takes it: `64k`. */
  addDisk(path: string, size: string): void {
    mkdirSync(path);
    run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
    this.#disks.add(path);
  }

  /** Starts a program beside the networks; it is ended with the lab. */
  start(command: string, parameters: readonly string[], settings?: ProcessSettings): LabProcess {
    const started = new LabProcess(command, parameters, settings);
    this.#processes.add(started);
    return started;
  }

  /** Ends every process, disk, machine and network of the lab. */
  async dispose(): Promise<void> {
    await Promise.all([...this.#processes].map((started) => started.stop()));
    for (const path of this.#disks) run('umount', [path]);
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
  /** The interfaces on networks that lead to it. */
  readonly links: readonly string[];
  readonly #lab: Lab;

  /** Makes a machine while this process goes on. */
  static async create(
    lab: Lab,
    name: string,
    settings: MachineSettings & { readonly address: string; readonly interfaces: ReadonlyMap<string, string> },
  ): Promise<Machine> {
    const { network, macAddress, address, interfaces } = settings;
    const further = [...interfaces].map(([inside, of]) => ({ inside, of, outside: `${++lastInterface}-${name}`.slice(0, 15) }));
    const machine = new Machine(lab, name, { network, macAddress, furtherLinks: further.map(({ outside }) => outside) });
    await runIp(
      ['-batch', '-'],
      [
        `netns add ${name}`,
        `link add v-${name} type veth peer name eth0 address ${macAddress} netns ${name}`,
        `link set v-${name} master ${network} up`,
        ...further.flatMap(({ inside, of, outside }) => [
          `link add ${outside} type veth peer name ${inside} netns ${name}`,
          `link set ${outside} master ${of} up`,
        ]),
      ],
    );
    await runIp(
      ['-n', name, '-batch', '-'],
      [
        'link set lo up',
        'link set eth0 up',
        `address add ${address} dev eth0`,
        ...further.map(({ inside }) => `link set ${inside} up`),
      ],
    );
    return machine;
  }

  /** @param settings - with `furtherLinks`, the caller makes the machine. */
  constructor(lab: Lab, name: string, settings: MachineSettings & { readonly furtherLinks?: readonly string[] }) {
    const { network, macAddress, furtherLinks } = settings;
    this.name = name;
    this.links = [`v-${name}`, ...(furtherLinks ?? [])];
    this.macAddress = macAddress;
    this.#lab = lab;
    this.folder = join(lab.folder, name);
    mkdirSync(this.folder);
    if (furtherLinks !== undefined) return;
    run('ip', ['netns', 'add', name]);
    run('ip', ['link', 'add', `v-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'address', macAddress, 'netns', name]);
    this.attach(network);
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
  }

  /** Plugs the machine into a network. */
  attach(network: string): void {
    run('ip', ['link', 'set', `v-${this.name}`, 'master', network, 'up']);
  }

  /** Switches the carrier of the machine's interface. */
  setLink(state: 'up' | 'down'): void {
    run('ip', ['link', 'set', `v-${this.name}`, state]);
  }

  /** The machine's IPv4 addresses with prefix length, as `ip` shows them; none on an interface that is not there. */
  addresses(interfaceName = 'eth0'): string[] {
    return addressesIn(this.name, interfaceName);
  }

  /** Runs `ip` with these words inside the machine. */
  ip(...words: readonly string[]): string {
    return run('ip', ['-n', this.name, ...words]);
  }

  /** Changes kernel settings of the machine, by names below `/proc/sys/net`, as `ipv4/ip_forward`. */
  setSysctls(values: Readonly<Record<string, string>>): void {
    const lines = Object.entries(values).map(([name, value]) => `echo ${value} > /proc/sys/net/${name}`);
    run('ip', ['netns', 'exec', this.name, 'sh', '-ec', lines.join('\n')]);
  }

  /** A kernel setting of the machine. */
  sysctl(name: string): string {
    return run('ip', ['netns', 'exec', this.name, 'cat', `/proc/sys/net/${name}`]).trim();
  }

  /** Starts a program inside the machine. */
  start(command: string, parameters: readonly string[], settings?: ProcessSettings): LabProcess {
    return this.#lab.start('ip', ['netns', 'exec', this.name, command, ...parameters], settings);
  }
}

/** Runs `ip` with these lines on its standard input. @throws Error with its error output */
async function runIp(words: readonly string[], lines: readonly string[] = []): Promise<void> {
  const running = promisify(execFile)('ip', [...words], { encoding: 'utf8', timeout: 60_000 });
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(`${lines.join('\n')}\n`);
  try {
    await running;
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`ip ${words.join(' ')}: ${output || String(error)}`, { cause: error });
  }
}

/** Runs a short program. @throws Error with its error output */
export function run(command: string, parameters: readonly string[]): string {
  try {
    return execFileSync(command, [...parameters], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`${command} ${parameters.join(' ')}: ${output || String(error)}`, { cause: error });
  }
}

/** For what may be gone already. */
function tryRun(command: string, parameters: readonly string[]): void {
  try {
    run(command, parameters);
  } catch {
    // It is gone.
  }
}
