import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from './deadline.js';
import type { Lab, Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';
import { AGENT_BIN } from './programs.js';

export interface AgentSettings {
  /** YAML. */
  readonly pools: string;
  /** `net-48=br48` each. */
  readonly interfaces: readonly string[];
  /** The size of a separate disk for the state: `64k`. */
  readonly stateSize?: string;
  readonly logLevel?: string;
  readonly parameters?: readonly string[];
  readonly onLine?: (line: string) => void;
}

/** A lease as `/leases` shows it. */
export interface ShownLease {
  readonly pool: string;
  readonly address: string;
  readonly macAddress: string;
  readonly state: string;
  readonly owner?: string;
  readonly expires?: string;
}

let lastPort = 8100;

/** A `vmdhcp-agent serve` in a lab. */
export class LabAgent {
  readonly url: string;
  readonly poolsPath: string;
  readonly statePath: string;
  process: LabProcess;
  readonly #lab: Lab;
  readonly #settings: AgentSettings;
  readonly #httpAddress: string;

  private constructor(lab: Lab, settings: AgentSettings) {
    const port = ++lastPort;
    this.#lab = lab;
    this.#settings = settings;
    this.#httpAddress = `127.0.0.1:${port}`;
    this.url = `http://${this.#httpAddress}`;
    this.poolsPath = join(lab.folder, `pools-${port}.yaml`);
    this.statePath = join(lab.folder, `state-${port}`);
    this.setPools(settings.pools);
    if (settings.stateSize !== undefined) lab.addDisk(this.statePath, settings.stateSize);
    this.process = this.#spawn();
  }

  /** Starts an agent and waits until it serves every pool. */
  static async start(lab: Lab, settings: AgentSettings): Promise<LabAgent> {
    const agent = new LabAgent(lab, settings);
    await agent.ready();
    return agent;
  }

  /** Rewrites the pools file. */
  setPools(yaml: string): void {
    writeFileSync(this.poolsPath, yaml);
  }

  /** Kills the agent and starts another on the same files. */
  async restart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.process.kill(signal);
    await this.process.ended();
    this.process = this.#spawn();
    await this.ready();
  }

  async ready(): Promise<void> {
    await waitFor('an agent that is ready', async () => {
      if (this.process.hasEnded) throw new Error(`the agent ended:\n${this.process.lines.join('\n')}`);
      return (await this.get('/readyz').catch(() => undefined))?.status === 200;
    });
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`${this.url}${path}`);
    return { status: response.status, text: await response.text() };
  }

  async leases(): Promise<ShownLease[]> {
    return JSON.parse((await this.get('/leases')).text) as ShownLease[];
  }

  /** The value of a metric, its labels written as Prometheus shows them; 0 if there is none. */
  async metric(nameAndLabels: string): Promise<number> {
    const line = (await this.get('/metrics')).text.split('\n').find((text) => text.startsWith(`${nameAndLabels} `));
    return Number(line?.slice(nameAndLabels.length + 1) ?? 0);
  }

  /** Log records with this `event`. */
  events(event: string): Record<string, unknown>[] {
    return this.records().filter((record) => record['event'] === event);
  }

  /** Everything the agent has logged, parsed. */
  records(): Record<string, unknown>[] {
    return this.process.lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  }

  #spawn(): LabProcess {
    const { interfaces, logLevel = 'info', parameters = [], onLine } = this.#settings;
    return this.#lab.start(
      process.execPath,
      [
        AGENT_BIN,
        'serve',
        '--pools',
        this.poolsPath,
        '--state',
        this.statePath,
        '--http',
        this.#httpAddress,
        '--log-level',
        logLevel,
        ...interfaces.flatMap((pair) => ['--interface', pair]),
        ...parameters,
      ],
      onLine === undefined ? {} : { onLine },
    );
  }
}

/** Runs another command of the agent inside a machine, and waits for its end. */
export async function runAgent(
  machine: Machine,
  ...parameters: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const started = machine.start(process.execPath, [AGENT_BIN, ...parameters]);
  const { code } = await started.ended();
  return { code, output: started.lines.join('\n') };
}
