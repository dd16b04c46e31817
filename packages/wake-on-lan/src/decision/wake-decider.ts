/**
 * Gives one answer to each report of an agent. Only the leader decides, by what configurations allow and by what the API server
 * reports now. An accepted wake-up starts its machine exactly once: reports of the same packet by other nodes get the verdict of
 * the first one, and after a change of leaders, the new manager finds the requested start in the VirtualMachine itself.
 */
import { isGroupMacAddress, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { describeNames, toRegarding } from '@vmdhcp/kube-runtime';
import { machineKey } from '../machine/wake-config.js';
import type { AllowedMachine, PacketTarget, WakeTarget } from '../machine/wakeable.js';
import type { ReportOutcome, WakeAnswer, WakeReport } from '../report/wake-report.js';
import { RateLimit } from '../window/rate-limit.js';
import { describeAmbiguity, describeReport, nameOf, plain } from './describe-wake-up.js';
import { MachineWaits } from './machine-waits.js';
import { RecentWakeUps } from './recent-wake-ups.js';
import { attemptWakeUp, notLeadingVerdict, type Wake } from './wake-attempt.js';
import type { DecidedReport, LiveMachine, WakePorts } from './wake-ports.js';
import { ruleOf, type WakeVerdict } from './wake-verdict.js';

const CAPACITY = 10_000;
/** For each sender: reports that need a decision. A backup server that wakes two hundred machines at once is not limited. */
const SENDER_LIMIT = { burst: 200, perSecond: 20, capacity: CAPACITY };
/** For each machine: how often a refused or failed wake-up is tried again. */
const MACHINE_LIMIT = { burst: 10, perSecond: 1, capacity: CAPACITY };
/** For all senders together, because senders can be made up. Each decision is two reads, and shares the processor with DHCP. */
const TOTAL_LIMIT = { burst: 500, perSecond: 100, capacity: 1 };
const ALL = '';
/** Decisions in progress, each with requests to the API server. */
const MOST_UNDER_WAY = 200;
/** Agents keep a wake-up for two minutes: a greater age is a mistake. */
const MOST_AGE_MS = 120_000;
/** The number of machines with one address that get an Event, from as many namespaces as possible. */
const MOST_AMBIGUOUS = 8;

/** Decides about the reports of agents, one answer each. */
export class WakeDecider {
  readonly #ports: WakePorts;
  readonly #recent = new RecentWakeUps();
  readonly #waits: MachineWaits;
  readonly #senders = new RateLimit(SENDER_LIMIT);
  readonly #machines = new RateLimit(MACHINE_LIMIT);
  readonly #total = new RateLimit(TOTAL_LIMIT);
  readonly #underWay = new Set<Promise<unknown>>();
  /** By machine; one at a time. */
  readonly #deciding = new Map<string, Promise<WakeVerdict>>();
  #isStopped = false;

  constructor(ports: WakePorts) {
    this.#ports = ports;
    this.#waits = new MachineWaits(ports);
  }

  /** Machines that will be started when they are down. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** The answer to a report. Never throws. */
  async report(report: WakeReport): Promise<ReportOutcome> {
    const { clock, observer } = this.#ports;
    const sinceMs = clock.nowMs();
    const { verdict, isRepeated } = await this.#judge(report);
    const answered: WakeVerdict = isRepeated ? repeated(verdict) : verdict;
    const processingTimeMs = clock.nowMs() - sinceMs;
    observer.onAnswer(this.#decided(report, answered, processingTimeMs));
    if (answered.outcome === 'not-leading') return { kind: 'not-leading', leader: this.#ports.leaderAddress() };
    const { status } = ruleOf(isRepeatedForMoment(verdict, isRepeated) ? verdict.outcome : answered.outcome);
    if (status === 'again') return { kind: isOfOneWakeUp(answered) ? 'later' : 'unavailable', message: answered.message };
    const { message, machine } = answered;
    const answer: WakeAnswer = {
      status,
      message,
      ...(machine !== undefined && { machine }),
      wasDuplicate: isRepeated,
      processingTimeMs,
    };
    return { kind: 'answered', answer };
  }

  /** Decides nothing new from this call on, and ends what waits; resolves when nothing is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waits.stop();
    await Promise.all(this.#underWay);
  }

  async #judge(report: WakeReport): Promise<{ readonly verdict: WakeVerdict; readonly isRepeated: boolean }> {
    const { observer } = this.#ports;
    const early = this.#findHindrance();
    if (early !== undefined) return { verdict: early, isRepeated: false };
    observer.onReport(report);
    const macAddress = readMachineAddress(report.macAddress);
    if (macAddress === undefined) return { verdict: malformed(report), isRepeated: false };
    // First, before anything that uses memory, so that a flood of made-up addresses fills none.
    const target = this.#ports.index.find(macAddress, report.passwordSecret);
    if (target.kind === 'not-allowed') return { verdict: notFound(macAddress), isRepeated: false };
    const { verdict, isRepeated } = await this.#judgeAllowed(report, macAddress, target);
    return { verdict: { ...verdict, configs: configsOf(target) }, isRepeated };
  }

  async #judgeAllowed(
    report: WakeReport,
    macAddress: MacAddress,
    target: AllowedTarget,
  ): Promise<{ readonly verdict: WakeVerdict; readonly isRepeated: boolean }> {
    if (target.kind === 'needs-password') return { verdict: passwordNotChecked(macAddress, target.configs), isRepeated: false };
    const nowMs = this.#ports.clock.nowMs();
    const seen = this.#recent.see(macAddress, nowMs - ageOf(report));
    if (seen.kind === 'repeated') return { verdict: await seen.verdict, isRepeated: true };
    const known = target.kind === 'machine' ? this.#verdictOf(machineKey(target.machine)) : undefined;
    if (known !== undefined) return { verdict: await known, isRepeated: true };
    const wakeUp = { report, macAddress, target };
    const limited = this.#findLimit(wakeUp, nowMs);
    if (limited !== undefined) return { verdict: limited, isRepeated: false };
    const deciding = this.#recent.decide(macAddress, nowMs, () => this.#decide(wakeUp));
    const key = target.kind === 'machine' ? machineKey(target.machine) : '';
    this.#deciding.set(key, deciding);
    this.#underWay.add(deciding);
    try {
      return { verdict: await deciding, isRepeated: false };
    } finally {
      this.#underWay.delete(deciding);
      this.#deciding.delete(key);
    }
  }

  /**
   * For a machine that waits, or that is being decided by another one of its addresses: senders may wake each card of a machine.
   */
  #verdictOf(key: string): WakeVerdict | Promise<WakeVerdict> | undefined {
    return this.#waits.verdictOf(key) ?? this.#deciding.get(key);
  }

  /** Why this process does not decide now. */
  #findHindrance(): WakeVerdict | undefined {
    const { isLeading, index } = this.#ports;
    if (this.#isStopped) {
      const message = 'this manager ends; the agent will report the wake-up to the next one';
      return { outcome: 'unavailable', reason: 'process-ends', message };
    }
    if (!isLeading()) return notLeadingVerdict(this.#ports);
    if (index.synced) return undefined;
    const message =
      'this manager has not listed all virtual machines and configurations yet; the agent will report the wake-up again';
    return { outcome: 'not-synced', reason: 'not-synced', message };
  }

  #findLimit({ report: { sender }, target }: Deciding, nowMs: number): WakeVerdict | undefined {
    if (this.#recent.underWay >= MOST_UNDER_WAY) {
      const message = `${MOST_UNDER_WAY} wake-ups are being decided; the agent will report this one again`;
      return { outcome: 'limited', reason: 'too-many-under-way', message };
    }
    const ofSender = this.#senders.take(sender.slice(0, 64), nowMs);
    if (ofSender.kind === 'limited') {
      const message = `too many wake-ups from ${plain(sender)}; the next one is decided in ${ofSender.retryAfterMs} ms, and the agent will report this one again`;
      return { outcome: 'limited', reason: 'too-many-of-sender', message };
    }
    const key = limitedName(target);
    const ofMachine = this.#machines.take(key, nowMs);
    if (ofMachine.kind === 'limited') {
      const message = `too many wake-ups of ${key}; the next one is decided in ${ofMachine.retryAfterMs} ms, and the agent will report this one again`;
      return { outcome: 'limited', reason: 'too-many-of-machine', message };
    }
    const ofAll = this.#total.take(ALL, nowMs);
    if (ofAll.kind === 'allowed') return undefined;
    const message = `too many wake-ups of all senders; the next one is decided in ${ofAll.retryAfterMs} ms, and the agent will report this one again`;
    return { outcome: 'limited', reason: 'too-many-of-all', message };
  }

  async #decide({ report, macAddress, target }: Deciding): Promise<WakeVerdict> {
    try {
      const verdict =
        target.kind === 'ambiguous'
          ? await this.#findAmbiguous(target.machines, macAddress)
          : await this.#wake(report, macAddress, target);
      this.#record(report, verdict);
      return verdict;
    } catch (error) {
      this.#ports.observer.onFault(error);
      return { outcome: 'unavailable', reason: 'fault', message: 'this manager failed; look at its log' };
    }
  }

  async #wake(report: WakeReport, macAddress: MacAddress, { machine, configs }: AllowedMachine): Promise<WakeVerdict> {
    const { namespace, name, uid } = machine;
    const packet: Packet = { macAddress, passwordSecret: report.passwordSecret };
    const whyNotAllowed = (live: LiveMachine) => {
      const allowed = this.#allowance(machineKey(machine), packet);
      if (allowed === undefined) return 'no WolConfig allows that any longer';
      if (uid !== undefined && live.virtualMachine.metadata.uid !== uid)
        return 'it was deleted and created again meanwhile; send the packet again';
      if (allowed.isMapped || !this.#ports.hasLostAddress(live, macAddress)) return undefined;
      return `it no longer has an interface with the address ${macAddress}; send the packet to one that it has, or map the address to it by a WolConfig with explicitMappings`;
    };
    const wake: Wake = { namespace, name, uid, configs, whyNotAllowed };
    const verdict = await attemptWakeUp(wake, this.#ports);
    if (verdict.outcome !== 'waiting') return verdict;
    const isWaiting = this.#waits.add({
      key: machineKey(wake),
      verdict,
      attempt: () => this.#attemptAgain(wake, packet),
      onOver: (over) => this.#onWaitOver({ report, macAddress }, { ...over, configs }),
    });
    if (isWaiting) return verdict;
    const message = `${nameOf(wake)} is stopping, and too many others wait until they are down; the agent will report the wake-up again`;
    return { ...verdict, outcome: 'unavailable', reason: 'too-many-waiting', message };
  }

  async #attemptAgain(wake: Wake, packet: Packet): Promise<WakeVerdict | undefined> {
    const allowed = this.#allowance(machineKey(wake), packet);
    if (allowed === undefined) return undefined;
    const attempt = attemptWakeUp({ ...wake, configs: allowed.configs }, this.#ports).catch((error: unknown): WakeVerdict => {
      this.#ports.observer.onFault(error);
      return { outcome: 'unavailable', reason: 'fault', message: 'this manager failed; look at its log' };
    });
    this.#underWay.add(attempt);
    return attempt.finally(() => this.#underWay.delete(attempt));
  }

  /** The machine that this packet may wake now; undefined if it may not. */
  #allowance(key: string, { macAddress, passwordSecret }: Packet): AllowedMachine | undefined {
    const target = this.#ports.index.find(macAddress, passwordSecret);
    return target.kind === 'machine' && machineKey(target.machine) === key ? target : undefined;
  }

  #onWaitOver({ report, macAddress }: Pick<Deciding, 'report' | 'macAddress'>, verdict: WakeVerdict): void {
    this.#recent.settle(macAddress, this.#ports.clock.nowMs(), verdict);
    this.#record(report, verdict);
    this.#ports.observer.onWaitOver(this.#decided(report, verdict, 0));
  }

  async #findAmbiguous(machines: readonly AllowedMachine[], macAddress: MacAddress): Promise<WakeVerdict> {
    const keys = machines.map(({ machine }) => machineKey(machine));
    const reads = await Promise.all(keys.slice(0, MOST_AMBIGUOUS).map((key) => this.#ports.readMachine(key)));
    return {
      outcome: 'ambiguous',
      reason: 'ambiguous-address',
      message: describeAmbiguity(macAddress, keys),
      sameAddress: keys,
      regarding: reads.flatMap((read) =>
        read.ok && read.machine !== undefined ? [toRegarding(read.machine.virtualMachine)] : [],
      ),
    };
  }

  #record(report: WakeReport, { outcome, message, sameAddress, regarding = [] }: WakeVerdict): void {
    const { event } = ruleOf(outcome);
    if (event === undefined) return;
    for (const one of regarding) {
      const text = sameAddress === undefined ? message : describeAmbiguity(plain(report.macAddress), sameAddress, one.namespace);
      this.#ports.record(one, { ...event, message: `${text}. ${describeReport(report)}.` });
    }
  }

  #decided(report: WakeReport, verdict: WakeVerdict, processingTimeMs: number): DecidedReport {
    const sinceHeardMs = Math.max(0, this.#ports.wallTimeMs() - report.heardAtMs);
    return { report, verdict, processingTimeMs, sinceHeardMs };
  }
}

/** The machine, or why it is ambiguous, for an address that WolConfigs allow. */
type AllowedTarget = Exclude<PacketTarget, { readonly kind: 'not-allowed' }>;

interface Deciding {
  readonly report: WakeReport;
  readonly macAddress: MacAddress;
  readonly target: Exclude<WakeTarget, { readonly kind: 'not-allowed' }>;
}

/** The key of a machine while a wake-up is decided. */
interface Packet {
  readonly macAddress: MacAddress;
  readonly passwordSecret: string | undefined;
}

/** In milliseconds. */
function ageOf({ ageMs = 0 }: WakeReport): number {
  return Math.min(Math.max(0, ageMs), MOST_AGE_MS);
}

/** True if other wake-ups can be decided meanwhile: also if a machine was read, and its start alone failed, as by a webhook that denies it. */
function isOfOneWakeUp({ outcome, reason, regarding }: WakeVerdict): boolean {
  return outcome === 'limited' || reason === 'too-many-waiting' || (outcome === 'unavailable' && regarding !== undefined);
}

/** Many machines may have one address: listing all names would be unbounded. */
function limitedName(target: Deciding['target']): string {
  if (target.kind === 'machine') return machineKey(target.machine);
  const [first] = target.machines;
  return `${first === undefined ? '' : machineKey(first.machine)} and others of its address`;
}

/** The answer to a further report of the same packet: a duplicate if the wake-up was accepted, otherwise the same. */
function repeated(verdict: WakeVerdict): WakeVerdict {
  const { status } = ruleOf(verdict.outcome);
  if (status === 'again' || status === 'error' || status === 'vm-not-found') return verdict;
  return { ...verdict, outcome: 'duplicate', reason: 'repeated', message: `one more packet of a wake-up: ${verdict.message}` };
}

/**
 * Agents ignore further packets for as long as the answer to the first one says: for a running machine, all nodes get the same
 * answer.
 */
function isRepeatedForMoment({ outcome }: WakeVerdict, isRepeated: boolean): boolean {
  return isRepeated && ruleOf(outcome).remembered === 'moment';
}

/** The canonical spelling; undefined if it is not the address of a machine. */
function readMachineAddress(text: string): MacAddress | undefined {
  const macAddress = parseMacAddress(text);
  return macAddress === undefined || isGroupMacAddress(macAddress) || macAddress === '00:00:00:00:00:00' ? undefined : macAddress;
}

function malformed({ macAddress }: WakeReport): WakeVerdict {
  const message = `${plain(macAddress)} is not the MAC address of a machine; write six octets`;
  return { outcome: 'malformed', reason: 'malformed-address', message };
}

function notFound(macAddress: MacAddress): WakeVerdict {
  const message = `no WolConfig allows a virtual machine with the address ${macAddress} to be woken, or there is none`;
  return { outcome: 'not-found', reason: 'not-allowed', message };
}

function configsOf(target: AllowedTarget): readonly string[] {
  return target.kind === 'ambiguous' ? [...new Set(target.machines.flatMap(({ configs }) => configs))] : target.configs;
}

function passwordNotChecked(macAddress: MacAddress, configs: readonly string[]): WakeVerdict {
  const message = `the machine with the address ${macAddress} is woken only with the password of WolConfig ${describeNames(configs)}, and the agent that received the packet checks another one or none; send the packet, with the password, to a port of that WolConfig`;
  return { outcome: 'not-found', reason: 'password-not-checked', message };
}
