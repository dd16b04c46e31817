/**
 * Runs several controllers in one process, under one leadership: all follow the cluster from the start, all begin to write when leadership is gained,
 * and all end when it is lost.
 */
import type { Clock } from '../clock/clock.js';
import { LeaseElector } from '../election/lease-elector.js';
import type { LeaseElectorSettings } from '../election/lease-elector-settings.js';
import type { ControllerPart } from './controller-part.js';

/** Why a run ended. */
export type RunEnd =
  /** `stop` was called. */
  | { readonly kind: 'stopped' }
  /** Another process may be leader now. The parts have stopped; a new run needs new parts. */
  | { readonly kind: 'leadership-lost' }
  /** A part, or `onLeading` (then `part` has that name), threw: a bug. */
  | { readonly kind: 'failed'; readonly part: string; readonly error: unknown };

/** The parts of a process, and the election that they wait for. */
export interface RunPartsSettings {
  /** In the order in which they start and lead; they stop in reverse order. */
  readonly parts: readonly ControllerPart[];
  readonly clock: Clock;
  /** Undefined if no other process does the same: then this one is leader from the start. */
  readonly election?: Omit<LeaseElectorSettings, 'clock' | 'onLeading' | 'onLost'> | undefined;
  /** How long parts may take to stop, in milliseconds; default 30 seconds. After that the Lease is left to expire. */
  readonly drainMs?: number;
  /** Leadership begins: called before the first part leads. */
  readonly onLeading?: () => void;
  /** A part did not stop as it should. @param error - undefined if it did not stop within `drainMs`. */
  readonly onStopProblem?: (part: string, error: unknown) => void;
}

/** Running parts. */
export interface PartsRun {
  /** True while this process may write. Check it before every write (`fencedClient`). */
  readonly isLeading: () => boolean;
  /** What the parts wait for, for people; empty if they are ready. */
  readonly unready: () => readonly string[];
  /** What parts lack although the process works without it, for people. */
  readonly lacks: () => readonly string[];
  /** Starts the parts. */
  readonly start: () => void;
  /** Stops the parts, then releases the Lease. Resolves when all work has ended, or `drainMs` has passed. */
  readonly stop: () => Promise<void>;
  /** Resolves once, after the parts have stopped. */
  readonly ended: Promise<RunEnd>;
}

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'following' }
  | { readonly kind: 'leading' }
  | { readonly kind: 'ending'; readonly wasLeading: boolean; readonly done: Promise<void> }
  | { readonly kind: 'ended' };

const DRAIN_MS = 30_000;

/** Combines the parts into one program. Nothing happens before `start`. */
export function runParts(settings: RunPartsSettings): PartsRun {
  const run = new Run(settings);
  return {
    isLeading: () => run.isLeading(),
    unready: () => run.unready(),
    lacks: () => run.lacks(),
    start: () => run.start(),
    stop: () => run.end({ kind: 'stopped' }),
    ended: run.ended,
  };
}

class Run {
  readonly #settings: RunPartsSettings;
  readonly #elector: LeaseElector | undefined;
  readonly #end = Promise.withResolvers<RunEnd>();
  #state: State = { kind: 'new' };

  constructor(settings: RunPartsSettings) {
    this.#settings = settings;
    const { election, clock } = settings;
    this.#elector =
      election &&
      new LeaseElector({
        ...election,
        clock,
        onLeading: () => this.#lead(),
        onLost: () => void this.end({ kind: 'leadership-lost' }),
      });
  }

  get ended(): Promise<RunEnd> {
    return this.#end.promise;
  }

  isLeading(): boolean {
    if (this.#elector !== undefined) return this.#elector.isLeading();
    // Without an election there is no leadership to lose: current work may finish its writes while the parts stop.
    return this.#state.kind === 'leading' || (this.#state.kind === 'ending' && this.#state.wasLeading);
  }

  unready(): string[] {
    if (this.#state.kind === 'new') return ['not started'];
    return this.#settings.parts.flatMap((part) => {
      const reasons = part.unready?.() ?? (part.synced ? [] : ['caches are not complete']);
      return reasons.map((reason) => `${part.name}: ${reason}`);
    });
  }

  lacks(): string[] {
    return this.#settings.parts.flatMap((part) => (part.lacks?.() ?? []).map((one) => `${part.name}: ${one}`));
  }

  start(): void {
    if (this.#state.kind !== 'new') return;
    this.#state = { kind: 'following' };
    if (!this.#each((part) => part.start())) return;
    if (this.#elector === undefined) this.#lead();
    else this.#elector.start();
  }

  end(why: RunEnd): Promise<void> {
    if (this.#state.kind === 'ending') return this.#state.done;
    if (this.#state.kind === 'ended') return Promise.resolve();
    const done = Promise.withResolvers<void>();
    this.#state = { kind: 'ending', wasLeading: this.#state.kind === 'leading', done: done.promise };
    // Always settles: errors of parts are reported.
    void this.#stopAll().then(() => {
      this.#state = { kind: 'ended' };
      this.#end.resolve(why);
      done.resolve();
    });
    return done.promise;
  }

  #lead(): void {
    if (this.#state.kind !== 'following') return;
    this.#state = { kind: 'leading' };
    try {
      this.#settings.onLeading?.();
    } catch (error) {
      // Otherwise a process that does nothing would keep the Lease.
      void this.end({ kind: 'failed', part: 'onLeading', error });
    }
    this.#each((part) => part.lead());
  }

  /** False if a part threw, or the run was stopped meanwhile: the run ends, and the remaining parts are not called. */
  #each(call: (part: ControllerPart) => void): boolean {
    const isOver = () => this.#state.kind === 'ending' || this.#state.kind === 'ended';
    for (const part of this.#settings.parts) {
      if (isOver()) return false;
      try {
        call(part);
      } catch (error) {
        void this.end({ kind: 'failed', part: part.name, error });
        return false;
      }
    }
    return !isOver();
  }

  /** Current work ends while this process is leader; only then is the Lease released. */
  async #stopAll(): Promise<void> {
    const stopped = this.#stopParts();
    await (this.#elector === undefined ? stopped : this.#elector.stop(() => stopped));
  }

  /** False if a part did not stop, so that another process must not begin yet. */
  async #stopParts(): Promise<boolean> {
    const { parts, clock, drainMs = DRAIN_MS, onStopProblem } = this.#settings;
    const running = new Set(parts);
    let isClean = true;
    const fail = (part: string, error: unknown) => {
      isClean = false;
      try {
        onStopProblem?.(part, error);
      } catch {
        // The run ends nevertheless.
      }
    };
    const stopOne = async (part: ControllerPart) => {
      try {
        await part.stop();
      } catch (error) {
        fail(part.name, error);
      }
      running.delete(part);
    };
    // All at once, so that none begins something new while another finishes its work.
    const stopping = parts.toReversed().map(stopOne);
    const limit = Promise.withResolvers<void>();
    const callOff = clock.after(drainMs, limit.resolve);
    await Promise.race([Promise.all(stopping), limit.promise]);
    callOff();
    for (const { name } of running) fail(name, undefined);
    return isClean;
  }
}
