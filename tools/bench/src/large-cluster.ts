/** A simulated API server and the controller, each a process of its own, and what they have used. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, keyOf, readConditions } from '@vmdhcp/kube-runtime';
import { CLUSTER_EXAMPLES, ClusterAccess, CONTROLLER_BIN, freePort, waitFor } from '@vmdhcp/lab';
import { usageOf } from './process-usage.js';

export type SimulatorRequest = 'count' | 'expire' | 'stop';

export interface SimulatorAnswer {
  /** Writes of all clients since the server began. */
  readonly writes: number;
}

/** What was used between two moments. */
export interface Used {
  readonly elapsedMs: number;
  readonly controllerMs: number;
  readonly simulatorMs: number;
  /** Writes of all clients. */
  readonly writes: number;
}

const SIMULATOR = fileURLToPath(new URL('large-simulator.js', import.meta.url));
const PATIENCE_MS = 900_000;
/** A controller that uses less than this is idle. */
const IDLE_MS = 20;
const IDLE_LOOK_MS = 250;
const IDLE_LOOKS = 4;

interface ClusterParts {
  readonly folder: string;
  readonly simulator: ChildProcess;
}

export class LargeCluster {
  readonly access: ClusterAccess;
  readonly #folder: string;
  readonly #simulator: ChildProcess;
  /** Where the controller serves its status. */
  #http = '';
  #controller: ChildProcess | undefined;

  private constructor(parts: Pick<LargeCluster, 'access'> & ClusterParts) {
    const { folder, simulator, access } = parts;
    this.#folder = folder;
    this.#simulator = simulator;
    this.access = access;
  }

  static async start(): Promise<LargeCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const simulator = fork(SIMULATOR, [kubeconfig]);
    await nextAnswer(simulator);
    const cluster = new LargeCluster({ folder, simulator, access: await ClusterAccess.open(kubeconfig) });
    await cluster.access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
    await cluster.startController();
    return cluster;
  }

  async startController(): Promise<void> {
    this.#http = `127.0.0.1:${await freePort()}`;
    const flags = ['--kubeconfig', join(this.#folder, 'kubeconfig'), '--http', this.#http, '--log-level', 'warn'];
    const run = [CONTROLLER_BIN, 'run', '--no-agent', '--no-leader-election', ...flags];
    this.#controller = spawn(process.execPath, run, { stdio: ['ignore', 'ignore', 'inherit'] });
    await waitFor(
      'the controller',
      () =>
        fetch(`http://${this.#http}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      PATIENCE_MS,
    );
  }

  async stopController(): Promise<void> {
    await ended(this.#controller, () => this.#controller?.kill('SIGTERM'));
  }

  async stop(): Promise<void> {
    await this.stopController();
    this.access.close();
    await ended(this.#simulator, () => this.#simulator.send('stop' satisfies SimulatorRequest));
    rmSync(this.#folder, { recursive: true });
  }

  /** Resident set of the controller. */
  controllerMegabytes(): number {
    return usageOf(this.#controller?.pid ?? 0).residentMegabytes;
  }

  /** Every watch ends, and none can go on from where it was. */
  async expireWatches(): Promise<void> {
    await this.#ask('expire');
  }

  /** What `act` used, until it is done. */
  async measure(act: () => Promise<void>): Promise<Used> {
    const before = await this.#reading();
    await act();
    const after = await this.#reading();
    return {
      elapsedMs: after.atMs - before.atMs,
      controllerMs: after.controllerMs - before.controllerMs,
      simulatorMs: after.simulatorMs - before.simulatorMs,
      writes: after.writes - before.writes,
    };
  }

  /** Resolves when the controller has nothing more to do. */
  async idle(): Promise<void> {
    let quietLooks = 0;
    while (quietLooks < IDLE_LOOKS) {
      const before = this.#controllerMs();
      await delay(IDLE_LOOK_MS);
      quietLooks = this.#controllerMs() - before < IDLE_MS ? quietLooks + 1 : 0;
    }
  }

  /** What the controller has written into pools, and one page of metrics: how long it took, how large it is. */
  async scrape(): Promise<{ readonly poolPatches: number; readonly ms: number; readonly megabytes: number }> {
    const begunAtMs = performance.now();
    const text = await (await fetch(`http://${this.#http}/metrics`)).text();
    const ms = performance.now() - begunAtMs;
    const patches = text.matchAll(/^vmdhcpcontroller_api_requests_total\{method="PATCH",resource="ippools\/status".*\} (\d+)$/gm);
    const poolPatches = [...patches].reduce((sum, [, count]) => sum + Number(count), 0);
    return { poolPatches, ms, megabytes: text.length / 1e6 };
  }

  /** Resolves when so many configs have their address. What happened before counts as well if it was written after this call. */
  async addressed(names: number): Promise<void> {
    const done = new Set<string>();
    await this.#watchConfigs((type, object) => {
      if (type !== 'deleted' && hasAddress(object)) done.add(object.metadata.name);
      return done.size >= names;
    });
  }

  /** Resolves when this config is gone: its address is free by then. */
  async released(key: string): Promise<void> {
    await this.#watchConfigs((type, object) => type === 'deleted' && keyOf(object) === key);
  }

  async #watchConfigs(isDone: (type: string, object: KubernetesObject) => boolean): Promise<void> {
    const client = this.access.client('VirtualMachineNetworkConfig');
    let { resourceVersion } = await client.list({ limit: 1 });
    await new Promise<void>((resolve, reject) => {
      const open = () => {
        const stop = client.watch(resourceVersion, {
          onEvent: (event) => {
            resourceVersion = event.type === 'bookmark' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? '');
            if (event.type === 'bookmark' || !isDone(event.type, event.object)) return;
            stop();
            resolve();
          },
          // A watch lasts for some minutes.
          onEnd: (end) => (end.kind === 'closed' ? open() : reject(new Error(`the watch ended: ${JSON.stringify(end)}`))),
        });
      };
      open();
    });
  }

  async #reading() {
    const { writes } = await this.#ask('count');
    const { userSeconds, kernelSeconds } = usageOf(this.#simulator.pid ?? 0);
    const simulatorMs = 1000 * (userSeconds + kernelSeconds);
    return { atMs: performance.now(), controllerMs: this.#controllerMs(), simulatorMs, writes };
  }

  /** 0 between two controllers. */
  #controllerMs(): number {
    if (this.#controller === undefined || this.#controller.exitCode !== null) return 0;
    const { userSeconds, kernelSeconds } = usageOf(this.#controller.pid ?? 0);
    return 1000 * (userSeconds + kernelSeconds);
  }

  async #ask(request: SimulatorRequest): Promise<SimulatorAnswer> {
    const answer = nextAnswer(this.#simulator);
    this.#simulator.send(request);
    return await answer;
  }
}

function hasAddress({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: state }) => type === 'Allocated' && state === 'True');
}

async function nextAnswer(simulator: ChildProcess): Promise<SimulatorAnswer> {
  return await new Promise((resolve) => simulator.once('message', resolve));
}

async function ended(child: ChildProcess | undefined, end: () => void): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  end();
  await exit;
}
