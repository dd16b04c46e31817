/** Audits magic packets, start requests to KubeVirt, and running machines. */
import type { WorldMachine } from '../cluster/machines.js';
import type { MagicPacketSent, StartRequest, World } from '../cluster/world.js';

export interface WakeFindings {
  readonly count: (what: string) => void;
  readonly violated: (law: 'woken' | 'woken-only' | 'woken-once', message: string) => void;
  /** Since when nothing has been wrong; infinite while something is. */
  readonly calmSinceMs: () => number;
}

interface Wake {
  readonly macAddress: string;
  readonly atMs: number;
  /** True if the machine was down and could have been started at once. */
  readonly isExpected: boolean;
  /** How many starts may be requested: one more if a later packet may begin another wake-up. */
  most: number;
  requests: number;
}

/** Packets within ten seconds after the first one are the same wake-up; the manager may hear them a few seconds late. */
const SAME_MS = 10_000;
const WINDOW_MS = 15_000;
/** Agents repeat a report for two minutes, for managers that wait until a machine is down. */
const MOST_LATE_MS = 145_000;
/** After this time the index of a manager and the lists of agents contain a new machine. */
const KNOWN_AFTER_MS = 10_000;
const STARTED_MS = 10_000;

export class WakeAuditor {
  readonly #world: World;
  readonly #findings: WakeFindings;
  /** The last wake-up, by machine. */
  readonly #wakes = new Map<string, Wake>();

  constructor(world: World, findings: WakeFindings) {
    this.#world = world;
    this.#findings = findings;
  }

  onMagicPacket({ name, macAddress }: MagicPacketSent): void {
    const machine = this.#machine(name);
    if (machine === undefined) return;
    this.#findings.count('magic packets');
    const atMs = this.#world.scheduler.nowMs();
    const isDown = machine.guests.length === 0 && !machine.isStarting;
    const last = this.#wakes.get(name);
    if (last !== undefined && isOfWakeUp(last, atMs, isDown)) return;
    const isExpected = isDown && this.#isWakeable(machine);
    this.#wakes.set(name, { macAddress, atMs, isExpected, most: 1, requests: 0 });
  }

  #isWakeable({ mayBeWoken, changedAtMs }: WorldMachine): boolean {
    return mayBeWoken && this.#world.scheduler.nowMs() - changedAtMs > KNOWN_AFTER_MS;
  }

  onStartRequest({ name, isTaken }: StartRequest): void {
    this.#findings.count(`start requests that KubeVirt ${isTaken ? 'takes' : 'refuses'}`);
    const nowMs = this.#world.scheduler.nowMs();
    const wake = this.#wakes.get(name);
    if (this.#machine(name)?.mayBeWoken !== true)
      this.#findings.violated('woken-only', `${name} is to be started, and no WolConfig allows it`);
    else if (wake === undefined || nowMs - wake.atMs > MOST_LATE_MS)
      this.#findings.violated('woken-only', `${name} is to be started, and nobody sent a magic packet for it`);
    if (wake === undefined) return;
    wake.requests++;
    if (wake.requests > wake.most && wake.atMs > this.#findings.calmSinceMs())
      this.#findings.violated('woken-once', `${name} is to be started ${wake.requests} times, after one wake-up`);
  }

  /** Finds wake-ups without a start. */
  look(): void {
    const nowMs = this.#world.scheduler.nowMs();
    for (const [name, wake] of this.#wakes) {
      if (!wake.isExpected || wake.requests > 0 || nowMs - wake.atMs < STARTED_MS) continue;
      const machine = this.#machine(name);
      this.#wakes.set(name, { ...wake, isExpected: false });
      if (machine === undefined || machine.guests.length > 0 || wake.atMs < this.#findings.calmSinceMs()) continue;
      if (machine.changedAtMs > wake.atMs) continue;
      this.#findings.violated('woken', `${name} (${wake.macAddress}) is not started ${STARTED_MS / 1000} s after a magic packet`);
    }
  }

  #machine(name: string): WorldMachine | undefined {
    return this.#world.machines.all.find((machine) => machine.name === name);
  }
}

/** Notes one more packet. False if it begins another wake-up. */
function isOfWakeUp(last: Wake, atMs: number, isDown: boolean): boolean {
  if (atMs - last.atMs > SAME_MS) last.most = 2;
  return atMs - last.atMs <= WINDOW_MS || (last.isExpected && isDown && last.requests === 0);
}
