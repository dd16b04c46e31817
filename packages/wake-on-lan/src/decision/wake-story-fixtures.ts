/**
 * Random stories of wake-ups: several managers with one leader, agents that keep a report until it is answered, and KubeVirt.
 * Managers crash between any two steps and come back, leaders change, requests and responses are lost. The same seed gives the
 * same story.
 */

import { FakeClock, type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { hasLostAddress } from '@vmdhcp/reconciler';
import type { WakeConfig, WakeMachine } from '../machine/wake-config.js';
import { wakeable } from '../machine/wakeable.js';
import type { ReportOutcome, WakeReport } from '../report/wake-report.js';
import { KubeVirtModel, type ModelState } from './kubevirt-model-fixtures.js';
import { WakeDecider } from './wake-decider.js';
import type { CallResult, WakePorts } from './wake-ports.js';

const STRATEGIES = ['Halted', 'Manual', 'RerunOnFailure', 'Once'];
const STATES: readonly ModelState[] = ['stopped', 'stopped', 'stopped', 'running', 'stopping', 'paused'];
/** Trouble ends after this time; then there is a manager, and requests arrive. */
const TROUBLE_MS = 70_000;
const AGENT_KEEPS_MS = 120_000;
const AGENT_TIMEOUT_MS = 5_000;
const AGENT_PAUSE_MS = 1_000;
const CONFIGS: readonly WakeConfig[] = [{ name: 'allowed', namespaces: ['allowed'], mode: 'All' }];

interface Machine extends WakeMachine {
  readonly key: string;
  readonly macAddress: string;
  readonly runStrategy: string;
  readonly state: ModelState;
}

interface Manager {
  isAlive: boolean;
  readonly decider: WakeDecider;
  /** Wake-ups that wait until their machine is down, which end with the manager. */
  readonly accepted: Set<string>;
}

export interface StoryFault {
  readonly kind: 'other';
  readonly message: string;
}

/** What a manager requests of KubeVirt. */
type Requests = Pick<WakePorts, 'start' | 'unpause'>;

/**
 * Plays one story. Returns all violations; empty if all is well.
 * @param faulty - requests of a manager that does not do what it reports: the story has to detect them.
 */
export async function playWakeStory(seed: number, faulty: Partial<Requests> = {}): Promise<StoryFault[]> {
  const story = new WakeStory(seed, faulty);
  await story.play();
  return story.faults.map((message) => ({ kind: 'other', message: `seed ${seed}: ${message}` }));
}

class WakeStory {
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #faulty: Partial<Requests>;
  readonly #clock = new FakeClock();
  readonly #kubevirt: KubeVirtModel;
  readonly #machines: readonly Machine[];
  readonly #agents: number;
  readonly #managers: Manager[] = [];
  /** Machines whose wait ended with a manager that accepted it. */
  readonly #lostWaits = new Set<string>();
  /** Start requests that were accepted and had no effect, by machine. */
  readonly #extra = new Map<string, number>();
  #leader: Manager | undefined;
  #isTroubled = true;

  constructor(seed: number, faulty: Partial<Requests>) {
    this.#random = randomFrom(seed);
    this.#faulty = faulty;
    this.#kubevirt = new KubeVirtModel(this.#clock, this.#random);
    this.#agents = 1 + this.#random(6);
    this.#machines = Array.from({ length: 1 + this.#random(4) }, (_, index) => this.#makeMachine(index));
    for (let count = 1 + this.#random(3); count > 0; count--) this.#managers.push(this.#startManager());
  }

  async play(): Promise<void> {
    this.#elect();
    this.#makeTrouble();
    for (const machine of this.#machines) this.#wakeSoon(machine, 60_000);
    await this.#clock.advance(TROUBLE_MS);
    this.#endTrouble();
    await this.#clock.advance(AGENT_KEEPS_MS + 60_000);
    this.#check('after the first packets', 1);
    const again = this.#machines.filter(isStarted);
    for (const { key } of again) this.#kubevirt.shutDown(key);
    await this.#clock.advance(15_000);
    for (const machine of again) this.#wakeSoon(machine, 10_000);
    await this.#clock.advance(AGENT_KEEPS_MS);
    this.#check('after a second wake-up without trouble', 2);
  }

  #makeMachine(index: number): Machine {
    const namespace = this.#random(4) === 0 ? 'forbidden' : 'allowed';
    const runStrategy = this.#oneOf(STRATEGIES);
    const state = this.#oneOf(STATES);
    const [name, macAddress] = [`vm-${index}`, `02:00:00:00:00:0${index}`];
    const key = `${namespace}/${name}`;
    this.#kubevirt.add(key, runStrategy, state);
    return { namespace, name, labels: {}, macAddresses: [macAddress], key, macAddress, runStrategy, state };
  }

  #oneOf<Value>(values: readonly Value[]): Value {
    return values[this.#random(values.length)] as Value;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(this.#random(ms), resolve));
  }

  #startManager(): Manager {
    const manager: Manager = { isAlive: true, accepted: new Set(), decider: new WakeDecider(this.#portsOf(() => manager)) };
    return manager;
  }

  #portsOf(self: () => Manager): ConstructorParameters<typeof WakeDecider>[0] {
    const isLeading = () => self().isAlive && this.#leader === self();
    return {
      clock: this.#clock,
      wallTimeMs: this.#clock.nowMs,
      isLeading,
      leaderAddress: () => undefined,
      index: { synced: true, find: (macAddress) => wakeable(CONFIGS, this.#machines).find(macAddress) },
      policyOf: () => ({ unpauses: true }),
      hasLostAddress,
      readMachine: async (key) => {
        const result = await this.#request(self(), () => ({ ok: true as const, machine: this.#kubevirt.read(key) }));
        return result;
      },
      start: (key) => this.#request<CallResult>(self(), () => this.#kubevirt.start(key)),
      unpause: (key) => this.#request<CallResult>(self(), () => this.#kubevirt.unpause(key)),
      ...this.#faulty,
      record: () => undefined,
      observer: {
        onReport: () => undefined,
        onStarting: (key) => {
          if (key.startsWith('forbidden/')) this.faults.push(`${key} is started, and no configuration allows it`);
        },
        onAnswer: ({ verdict: { outcome, machine } }) => {
          if (outcome === 'waiting' && machine !== undefined) self().accepted.add(`${machine.namespace}/${machine.name}`);
        },
        onWaitOver: ({ verdict: { reason, machine } }) => {
          if (machine === undefined) return;
          const key = `${machine.namespace}/${machine.name}`;
          self().accepted.delete(key);
          if (reason === 'leadership-lost') this.#lostWaits.add(key);
        },
        onFault: (error) => this.faults.push(`a bug: ${String(error)}`),
      },
    };
  }

  /** A request of a manager: a dead manager never sees the response, but the request may arrive. */
  async #request<Result>(manager: Manager, serve: () => Result): Promise<Result | Exclude<CallResult, { ok: true }>> {
    const fate = this.#isTroubled ? this.#random(8) : 7;
    await this.#pause(fate === 0 ? 8_000 : 100);
    const isLostBefore = fate === 1;
    const result = isLostBefore ? unanswered() : serve();
    await this.#pause(100);
    if (!manager.isAlive) return new Promise<never>(() => undefined);
    return fate === 2 ? unanswered() : result;
  }

  #elect(): void {
    const alive = this.#managers.filter(({ isAlive }) => isAlive);
    this.#leader = alive.length === 0 ? undefined : this.#oneOf(alive);
  }

  #makeTrouble(): void {
    if (!this.#isTroubled) return;
    switch (this.#random(4)) {
      case 0:
        this.#elect();
        break;
      case 1:
        this.#crash(this.#oneOf(this.#managers));
        break;
      case 2:
        this.#managers.push(this.#startManager());
        break;
      default:
        break;
    }
    // No leader until a Lease has run out.
    if (this.#leader?.isAlive === false) this.#clock.after(this.#random(15_000), () => this.#elect());
    this.#clock.after(100 + this.#random(5_000), () => this.#makeTrouble());
  }

  #crash(manager: Manager): void {
    manager.isAlive = false;
    for (const key of manager.accepted) this.#lostWaits.add(key);
  }

  #endTrouble(): void {
    this.#isTroubled = false;
    this.#managers.push(this.#startManager());
    if (this.#leader?.isAlive !== true) this.#elect();
  }

  /** A packet, sent one to three times; each time at least one agent receives it. */
  #wakeSoon(machine: Machine, withinMs: number): void {
    this.#clock.after(this.#random(withinMs), () => {
      for (let packets = 1 + this.#random(3); packets > 0; packets--) {
        const sure = this.#random(this.#agents);
        for (let agent = 0; agent < this.#agents; agent++) {
          if (agent === sure || this.#random(2) === 0) void this.#hear(agent, machine);
        }
      }
    });
  }

  /** Does what an agent does: tries one manager after the other until one answers, or two minutes are over. */
  async #hear(agent: number, { macAddress }: Machine): Promise<void> {
    await this.#pause(2_000);
    const heardAtMs = this.#clock.nowMs();
    const report: WakeReport = {
      ...{ macAddress, nodeName: `node-${agent}`, sender: '10.0.0.9', senderPort: 9, packetSize: 102, heardAtMs },
    };
    while (this.#clock.nowMs() - heardAtMs < AGENT_KEEPS_MS) {
      const ageMs = this.#clock.nowMs() - heardAtMs;
      const outcome = await this.#ask(this.#oneOf(this.#managers), { ...report, ageMs });
      if (outcome?.kind === 'answered') return;
      await this.#pause(AGENT_PAUSE_MS);
    }
  }

  /** The outcome; undefined if there was no answer in time. */
  async #ask(manager: Manager, report: WakeReport): Promise<ReportOutcome | undefined> {
    await this.#pause(50);
    if (!manager.isAlive) return undefined;
    const isAnswerLost = this.#isTroubled && this.#random(5) === 0;
    const asked = manager.decider.report(report);
    const timeout = new Promise<undefined>((resolve) => void this.#clock.after(AGENT_TIMEOUT_MS, () => resolve(undefined)));
    const outcome = await Promise.race([asked, timeout]);
    return isAnswerLost ? undefined : outcome;
  }

  /** @param rounds - how often a wakeable machine has been woken. */
  #check(when: string, rounds: number): void {
    for (const machine of this.#machines) {
      const { taken, created, unpaused } = this.#kubevirt.countsOf(machine.key);
      const [least, most] = this.#expectedStarts(machine, rounds);
      const text = `${when}: ${machine.key} (${machine.runStrategy}, ${machine.state})`;
      if (created < least || created > most) this.faults.push(`${text} was started ${created} times, not ${least} to ${most}`);
      // A late request may be accepted once more, without effect: right after an instance is created, virt-api does not see that
      // it runs.
      const extra = taken - created;
      if (extra !== (this.#extra.get(machine.key) ?? extra))
        this.faults.push(`${text}: a start was requested twice without trouble`);
      this.#extra.set(machine.key, extra);
      const continued = machine.state === 'paused' && machine.namespace === 'allowed' ? 1 : 0;
      if (unpaused !== continued) this.faults.push(`${text} was continued ${unpaused} times, not ${continued}`);
    }
  }

  #expectedStarts({ key, namespace, runStrategy, state }: Machine, rounds: number): readonly [number, number] {
    if (namespace !== 'allowed' || runStrategy === 'Once') return [0, 0];
    if (state === 'stopped') return [rounds, rounds];
    if (state === 'stopping') return this.#lostWaits.has(key) ? [0, 1] : [1, 1];
    return [0, 0];
  }
}

/** A machine that the first packets have certainly started. */
function isStarted({ namespace, runStrategy, state }: Machine): boolean {
  return namespace === 'allowed' && runStrategy !== 'Once' && state === 'stopped';
}

function unanswered(): Exclude<CallResult, { ok: true }> {
  return { ok: false, status: 0, message: 'no answer', canRetry: true };
}
