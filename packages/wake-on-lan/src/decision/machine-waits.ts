/**
 * Wake-ups of machines that are stopping: KubeVirt refuses to start them until they are down. Each is checked again, less often
 * as time passes, until it was started or two minutes are over. They are only in memory: they end with the leadership and with
 * the process, and an Event reports that.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { WakeReason, WakeVerdict } from './wake-verdict.js';

const LONGEST_MS = 120_000;
const MOST_WAITING = 100;
/** Machines may take long to stop, and each tenant may have some. */
const MOST_OF_A_NAMESPACE = 50;
/** Once a second for the first ten seconds, then every three seconds: a hundred machines cost at most a hundred reads a second. */
const SOON_MS = 1_000;
const LATER_MS = 3_000;
const SOON_FOR_MS = 10_000;

export interface MachineWait {
  /** `namespace/name`. */
  readonly key: string;
  /** The verdict that made it wait. */
  readonly verdict: WakeVerdict;
  /** Makes one more attempt; undefined if no configuration allows it any longer. */
  readonly attempt: () => Promise<WakeVerdict | undefined>;
  /** Called once, with the outcome. */
  readonly onOver: (verdict: WakeVerdict) => void;
}

export interface MachineWaitsPorts {
  readonly clock: Clock;
  readonly isLeading: () => boolean;
}

interface Entry {
  readonly wait: MachineWait;
  readonly sinceMs: number;
  /** Ends the timer. */
  cancel: () => void;
}

export class MachineWaits {
  readonly #ports: MachineWaitsPorts;
  readonly #entries = new Map<string, Entry>();
  #isStopped = false;

  constructor(ports: MachineWaitsPorts) {
    this.#ports = ports;
  }

  /** The number of waiting machines. */
  get size(): number {
    return this.#entries.size;
  }

  /** The verdict that made the machine `namespace/name` wait; undefined if it does not wait. */
  verdictOf(key: string): WakeVerdict | undefined {
    return this.#entries.get(key)?.wait.verdict;
  }

  /** False if there is no room for it. A machine that waits already keeps waiting. */
  add(wait: MachineWait): boolean {
    if (this.#entries.has(wait.key)) return true;
    if (this.#isStopped || this.#entries.size >= MOST_WAITING || this.#waitingBeside(wait.key) >= MOST_OF_A_NAMESPACE)
      return false;
    const entry: Entry = { wait, sinceMs: this.#ports.clock.nowMs(), cancel: () => undefined };
    this.#entries.set(wait.key, entry);
    this.#lookLater(entry);
    return true;
  }

  /** Ends all, and calls `onOver` of each. */
  stop(): void {
    this.#isStopped = true;
    for (const entry of this.#entries.values()) this.#end(entry, abandoned(entry, 'process-ends'));
  }

  /** The number of waiting machines of its namespace. */
  #waitingBeside(key: string): number {
    const prefix = key.slice(0, key.indexOf('/') + 1);
    return [...this.#entries.keys()].filter((one) => one.startsWith(prefix)).length;
  }

  #lookLater(entry: Entry): void {
    const waitedMs = this.#ports.clock.nowMs() - entry.sinceMs;
    entry.cancel = this.#ports.clock.after(waitedMs < SOON_FOR_MS ? SOON_MS : LATER_MS, () => void this.#look(entry));
  }

  async #look(entry: Entry): Promise<void> {
    const verdict = await this.#attempt(entry);
    if (!this.#entries.has(entry.wait.key)) return;
    if (verdict === undefined) this.#lookLater(entry);
    else this.#end(entry, verdict);
  }

  /** Its outcome; undefined if it keeps waiting. */
  async #attempt({ wait, sinceMs }: Entry): Promise<WakeVerdict | undefined> {
    const { clock, isLeading } = this.#ports;
    if (!isLeading()) return abandoned({ wait }, 'leadership-lost');
    const verdict = await wait.attempt();
    if (verdict === undefined) return abandoned({ wait }, 'no-longer-allowed');
    if (verdict.outcome === 'not-leading') return abandoned({ wait }, 'leadership-lost');
    if (verdict.outcome !== 'waiting' && verdict.outcome !== 'unavailable') return verdict;
    return clock.nowMs() - sinceMs < LONGEST_MS ? undefined : abandoned({ wait }, 'not-down-in-time');
  }

  #end({ wait, cancel }: Entry, verdict: WakeVerdict): void {
    cancel();
    this.#entries.delete(wait.key);
    wait.onOver(verdict);
  }
}

type AbandonedReason = 'not-down-in-time' | 'leadership-lost' | 'process-ends' | 'no-longer-allowed';

const WHY: Readonly<Record<AbandonedReason & WakeReason, string>> = {
  'not-down-in-time': 'it was not down within two minutes. Send the packet again when it is',
  'leadership-lost': 'this manager lost the leadership while it waited until the machine was down. Send the packet again',
  'process-ends': 'this manager ended while it waited until the machine was down. Send the packet again',
  'no-longer-allowed': 'no WolConfig allows that any longer',
};

function abandoned({ wait }: Pick<Entry, 'wait'>, reason: AbandonedReason): WakeVerdict {
  return { ...wait.verdict, outcome: 'abandoned', reason, message: `VirtualMachine ${wait.key} is not started: ${WHY[reason]}` };
}
