/** Isolates each interface of an agent before anything is served on it, and checks it again every second. */

import type { AgentObserver, InterfaceIdentity, InterfaceIsolation } from '../ports.js';

const CHECK_INTERVAL_MS = 1_000;

/** How the interfaces of an agent are kept apart from other networks. */
export interface IsolatedInterfacesPorts {
  /** Called once a second. */
  readonly names: () => readonly string[];
  readonly observer: AgentObserver;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Makes the settings that all interfaces share, before each round. Returns what it corrected. @throws Error */
  readonly prepare: () => readonly string[];
  /** Isolates one interface. Returns what it corrected. @throws Error if the interface cannot be isolated. */
  readonly isolate: (link: InterfaceIdentity) => readonly string[];
}

interface CheckedInterface {
  /** The index; another interface of the same name has another one. */
  readonly index: number;
  readonly atMs: number;
  /** Undefined if it is isolated. */
  readonly problem: string | undefined;
}

export class IsolatedInterfaces implements InterfaceIsolation {
  readonly #ports: IsolatedInterfacesPorts;
  readonly #checked = new Map<string, CheckedInterface>();
  #names: readonly string[] = [];
  #namesAtMs = Number.NEGATIVE_INFINITY;

  constructor(ports: IsolatedInterfacesPorts) {
    this.#ports = ports;
  }

  /** Isolates new interfaces, and checks each of the others once a second. Call it repeatedly; it never throws. */
  check(): void {
    const nowMs = this.#ports.nowMs();
    if (nowMs - this.#namesAtMs >= CHECK_INTERVAL_MS) {
      this.#names = this.#ports.names();
      this.#namesAtMs = nowMs;
    }
    const due = this.#names.flatMap((name) => this.#due(name));
    if (due.length === 0) return;
    const prepared = attempt(this.#ports.prepare);
    for (const link of due) this.#check(link, prepared);
  }

  /** Why nothing may be served on the interface; undefined if it is isolated, or does not exist. */
  problemOf(interfaceName: string): string | undefined {
    const index = this.#ports.indexOf(interfaceName);
    if (index === 0) return undefined;
    const checked = this.#checked.get(interfaceName);
    return checked?.index === index ? checked.problem : 'the interface is new, and is being isolated';
  }

  /** The interface, if it exists and is due for a check. */
  #due(interfaceName: string): InterfaceIdentity[] {
    const { indexOf, nowMs } = this.#ports;
    const interfaceIndex = indexOf(interfaceName);
    const before = this.#checked.get(interfaceName);
    if (interfaceIndex === 0) this.#checked.delete(interfaceName);
    const isKnown = before?.index === interfaceIndex && nowMs() - before.atMs < CHECK_INTERVAL_MS;
    return interfaceIndex === 0 || isKnown ? [] : [{ interfaceName, interfaceIndex }];
  }

  #check(link: InterfaceIdentity, prepared: Outcome): void {
    const before = this.#checked.get(link.interfaceName);
    const outcome = prepared.problem === undefined ? attempt(() => this.#ports.isolate(link)) : prepared;
    const problem =
      outcome.problem && `interface ${link.interfaceName} cannot be isolated from other networks: ${outcome.problem}`;
    this.#checked.set(link.interfaceName, { index: link.interfaceIndex, atMs: this.#ports.nowMs(), problem });
    if (problem !== before?.problem) this.#observeChange(link, problem);
    else if (before?.index === link.interfaceIndex) this.#observeCorrected(link, [...prepared.corrected, ...outcome.corrected]);
  }

  #observeChange({ interfaceName }: InterfaceIdentity, problem: string | undefined): void {
    const { observer } = this.#ports;
    if (problem === undefined) observer.observe({ kind: 'interface-isolated', interfaceName });
    else observer.observe({ kind: 'isolation-failed', interfaceName, message: problem });
  }

  #observeCorrected({ interfaceName }: InterfaceIdentity, corrected: readonly string[]): void {
    if (corrected.length === 0) return;
    this.#ports.observer.observe({ kind: 'isolation-restored', interfaceName, corrected });
  }
}

interface Outcome {
  readonly corrected: readonly string[];
  readonly problem?: string;
}

function attempt(change: () => readonly string[]): Outcome {
  try {
    return { corrected: change() };
  } catch (error) {
    return { corrected: [], problem: error instanceof Error ? error.message : String(error) };
  }
}
