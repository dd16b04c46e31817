/**
 * Which interfaces hear nothing. The bridge CNI plugin creates a bridge that is missing on a node, a trunk may lack the VLAN, an uplink may be down: an
 * agent is then well in every other respect, and answers nobody. Machines that run are asked (ARP) before an interface counts as silent, as a
 * network may be quiet.
 */
import type { Clock } from '@vmdhcp/kube-runtime';

/** Nothing was heard for so long. */
export const SILENT_MS = 120_000;
/** From then on machines are asked, so often. */
const ASK_AFTER_MS = 40_000;
const ASK_INTERVAL_MS = 10_000;
/** A bridge that was just made sends some frames of its own. */
const NEW_MS = 30_000;

export interface SilentInterfacesPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Frames that the interface has received; undefined: that cannot be known, so it does not count as silent. */
  readonly framesReceived: (interfaceName: string) => number | undefined;
  /**
   * Asks some machines of the network whether they are there: their answers are frames. By the leader alone: other replicas would hear each other's
   * questions, and take them for a sign of life.
   */
  readonly ask: (interfaceName: string) => void;
  /** Whether an interface is silent is another than before. */
  readonly onChange: (interfaceName: string, isSilent: boolean) => void;
}

interface Heard {
  readonly frames: number;
  /** When that number was seen first. */
  readonly atMs: number;
  readonly askedAtMs: number;
  readonly isSilent: boolean;
  /** When the interface was seen first. */
  readonly sinceMs: number;
  /** True: something arrived when it was not new any more. */
  readonly hasHeard: boolean;
}

export class SilentInterfaces {
  readonly #ports: SilentInterfacesPorts;
  readonly #heard = new Map<string, Heard>();

  constructor(ports: SilentInterfacesPorts) {
    this.#ports = ports;
  }

  isSilent(interfaceName: string): boolean {
    return this.#heard.get(interfaceName)?.isSilent === true;
  }

  /** True: nothing has ever arrived there. A network that is merely quiet is heard from time to time. */
  hasNeverHeard(interfaceName: string): boolean {
    const heard = this.#heard.get(interfaceName);
    return heard?.isSilent === true && !heard.hasHeard;
  }

  /** In milliseconds; 0: it is not silent. */
  silentForMs(interfaceName: string): number {
    const heard = this.#heard.get(interfaceName);
    return heard?.isSilent === true ? this.#ports.clock.nowMs() - heard.atMs : 0;
  }

  /** Looks at these interfaces, and forgets others. To be called every second. */
  look(interfaceNames: ReadonlySet<string>): void {
    for (const name of this.#heard.keys()) if (!interfaceNames.has(name)) this.#heard.delete(name);
    for (const name of interfaceNames) {
      const frames = this.#ports.framesReceived(name);
      const before = this.#heard.get(name);
      if (frames === undefined) this.#heard.delete(name);
      else if (before === undefined || frames !== before.frames) this.#hear(name, frames, before);
      else this.#wait(name, before);
    }
  }

  #hear(name: string, frames: number, before: Heard | undefined): void {
    const nowMs = this.#ports.clock.nowMs();
    const sinceMs = before?.sinceMs ?? nowMs;
    const hasHeard = before?.hasHeard === true || nowMs - sinceMs > NEW_MS;
    this.#heard.set(name, { frames, atMs: nowMs, askedAtMs: nowMs, isSilent: false, sinceMs, hasHeard });
    if (before?.isSilent === true) this.#ports.onChange(name, false);
  }

  #wait(name: string, before: Heard): void {
    const { clock, ask, onChange } = this.#ports;
    const nowMs = clock.nowMs();
    const waitedMs = nowMs - before.atMs;
    const isSilent = waitedMs >= SILENT_MS;
    const isTimeToAsk = waitedMs >= ASK_AFTER_MS && nowMs - before.askedAtMs >= ASK_INTERVAL_MS;
    this.#heard.set(name, { ...before, isSilent, askedAtMs: isTimeToAsk ? nowMs : before.askedAtMs });
    if (isTimeToAsk) ask(name);
    if (isSilent && !before.isSilent) onChange(name, true);
  }
}
