/** Replaces gRPC between an agent and the managers: one of them is found, answers late or never, and is lost again. */
import type { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import type { DeliveryOutcome, ManagerClient, ManagerListeners, ManagerState, WakeReport } from '@vmdhcp/wake-on-lan';
import type { WakeManager } from './wake-manager.js';

export interface ManagerLineSettings {
  readonly process: FakeProcess;
  readonly managers: () => readonly WakeManager[];
  readonly random: (below: number) => number;
  /** False if nothing passes between these nodes. */
  readonly isOpen: (node: string) => boolean;
  readonly latencyMs: () => number;
  /** True if this message is lost. */
  readonly isLost: () => boolean;
  readonly listeners: ManagerListeners;
}

const CHECK_MS = 1_000;
const REPORT_MS = 5_000;
const ADDRESS = 'manager:9443';

export class ManagerLine implements ManagerClient {
  readonly #settings: ManagerLineSettings;
  #manager: WakeManager | undefined;
  #listed = '';
  #sinceMs = 0;
  #isStopped = false;

  constructor(settings: ManagerLineSettings) {
    this.#settings = settings;
  }

  get state(): ManagerState {
    const kind = this.#manager === undefined ? 'disconnected' : 'connected';
    return { kind, address: ADDRESS, why: kind === 'connected' ? '' : 'no manager that leads answers', sinceMs: this.#sinceMs };
  }

  async start(): Promise<void> {
    this.#check();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async report(report: WakeReport): Promise<DeliveryOutcome> {
    const manager = this.#manager;
    const { process, isLost, latencyMs } = this.#settings;
    if (manager === undefined) return { kind: 'unavailable', message: 'no manager that leads answers' };
    return await new Promise((resolve) => {
      process.after(REPORT_MS, () => resolve({ kind: 'unavailable', message: 'no answer' }));
      if (isLost()) return;
      const answer = (outcome: DeliveryOutcome) => {
        if (!isLost() && this.#isReached(manager)) process.after(latencyMs(), () => resolve(outcome));
      };
      process.after(latencyMs(), () => {
        if (this.#isReached(manager))
          manager.process.deliver(() => void manager.report(report).then((one) => answer(toDelivery(one))));
      });
    });
  }

  /** Notices a lost manager, and looks for another one. */
  #check(): void {
    if (this.#isStopped) return;
    if (this.#manager !== undefined && !this.#isReached(this.#manager)) this.#disconnect();
    if (this.#manager === undefined) this.#connect();
    this.#list();
    this.#settings.process.after(CHECK_MS, () => this.#check());
  }

  #isReached(manager: WakeManager): boolean {
    return this.#settings.isOpen(manager.node) && manager.isServing;
  }

  #connect(): void {
    const { managers, random, process, listeners } = this.#settings;
    const some = managers();
    const manager = some[random(Math.max(1, some.length))];
    if (manager === undefined || !this.#isReached(manager) || manager.process.isFrozen) return;
    this.#manager = manager;
    this.#listed = '';
    this.#sinceMs = process.nowMs();
    listeners.observe({ kind: 'connected', address: ADDRESS });
    this.#list();
    listeners.onReachable();
  }

  #disconnect(): void {
    const { process, listeners } = this.#settings;
    this.#manager = undefined;
    this.#sinceMs = process.nowMs();
    listeners.observe({ kind: 'disconnected', address: ADDRESS, why: 'it does not lead any more' });
  }

  /** Receives the list after each change. */
  #list(): void {
    if (this.#manager === undefined || this.#manager.process.isFrozen) return;
    const addresses = this.#manager.addresses();
    const listed = [...addresses].sort().join();
    if (listed === this.#listed) return;
    this.#listed = listed;
    this.#settings.listeners.onAddresses(addresses);
  }
}

function toDelivery(outcome: Awaited<ReturnType<WakeManager['report']>>): DeliveryOutcome {
  return outcome.kind === 'not-leading' ? { kind: 'unavailable', message: 'it does not lead' } : outcome;
}
