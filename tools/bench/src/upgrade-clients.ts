import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Clients of one network. */
export interface ClientGroup {
  readonly network: string;
  readonly serverAddress: string;
  readonly macAddresses: readonly string[];
}

export interface ClientsReport {
  /** The longest wait of each group since the last report. */
  readonly longestWaitsMs: readonly number[];
  readonly renewals: number;
  readonly otherAddresses: number;
  /** How often two answered for one server address. */
  readonly doubles: number;
}

export type ClientsRequest = 'report' | 'end';

/** Clients that renew every second, in a thread of their own. */
export class UpgradeClients {
  readonly #worker: Worker;

  private constructor(groups: readonly ClientGroup[]) {
    this.#worker = new Worker(new URL('./clients-worker.js', import.meta.url), { workerData: groups });
  }

  /** Resolves when every client has its address. */
  static async begin(groups: readonly ClientGroup[]): Promise<UpgradeClients> {
    const clients = new UpgradeClients(groups);
    await clients.#next();
    return clients;
  }

  async report(): Promise<ClientsReport> {
    this.#worker.postMessage('report' satisfies ClientsRequest);
    return await this.#next();
  }

  async stop(): Promise<void> {
    this.#worker.postMessage('end' satisfies ClientsRequest);
    await once(this.#worker, 'exit');
  }

  async #next(): Promise<ClientsReport> {
    const [report] = (await once(this.#worker, 'message')) as [ClientsReport];
    return report;
  }
}
