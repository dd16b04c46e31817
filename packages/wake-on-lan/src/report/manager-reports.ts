/** In a cluster: keeps each wake-up until the manager that is leader has answered, or until two minutes are over. */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { describePlace } from '../listen/listening-ports.js';
import { describeClientEvent } from './describe-client-event.js';
import { judgeAnswer, type ReportAnswer } from './judge-answer.js';
import type { ManagerClient, ManagerListeners } from './manager-client.js';
import type { PacketFacts, PacketWakeUp, WakeUpEnds } from './packet-wake-up.js';
import { type ReportEnd, ReportQueue } from './report-queue.js';
import { WakeableList } from './wakeable-list.js';
import type { WolClientEvent } from './wol-client-event.js';

const CAPACITY = 10_000;
const KEEP_MS = 120_000;
const REPORTS_AT_ONCE = 16;
const LIST_CHECK_MS = 1_000;
const STOP_MS = 5_000;
const STOP_CHECK_MS = 20;

type WriteLine = (about: Readonly<Record<string, unknown>>, message: string) => void;

/** Which node reports, and about which machines. */
export interface ManagerReportsSettings {
  readonly nodeName: string;
  /** Machines of the command line; undefined for all. */
  readonly machines: ReadonlySet<MacAddress> | undefined;
}

/** How reports reach the manager, and who is told of failures. */
export interface ManagerReportsPorts {
  /** Creates the client, which calls these listeners. */
  readonly connect: (listeners: ManagerListeners) => ManagerClient;
  readonly hearing: WakeUpEnds;
  readonly logger: { readonly info: WriteLine; readonly warn: WriteLine; readonly error: WriteLine };
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** Calls after this many milliseconds. Returns a function that cancels the call. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** Milliseconds until the next try after this many failures in a row, 1 or more. */
  readonly pauseMs: (failures: number) => number;
}

/** Reports wake-ups to the manager that is leader, and listens for the machines that it names. */
export class ManagerReports {
  readonly #settings: ManagerReportsSettings;
  readonly #ports: ManagerReportsPorts;
  readonly #client: ManagerClient;
  readonly #queue: ReportQueue<PacketFacts, ReportAnswer>;
  readonly #list: WakeableList;
  readonly #counts = { accepted: 0, failed: 0 };
  readonly #ends = new Map<string, number>();
  #failedTries = 0;
  #endListChecks: () => void = () => undefined;

  constructor(settings: ManagerReportsSettings, ports: ManagerReportsPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#list = new WakeableList(settings.machines);
    this.#client = ports.connect({
      observe: (event) => this.#onClientEvent(event),
      onReachable: () => this.#queue.managerIsReachable(),
      onAddresses: (addresses) => {
        this.#list.take(addresses);
        this.#useList();
      },
    });
    const { nowMs, after, pauseMs } = ports;
    this.#queue = new ReportQueue<PacketFacts, ReportAnswer>(
      { capacity: CAPACITY, keepMs: KEEP_MS, atOnce: REPORTS_AT_ONCE },
      {
        ...{ nowMs, after, pauseMs },
        deliver: (wakeUp) => this.#deliver(wakeUp),
        onDelayed: (wakeUp, message) => this.#onDelayed(wakeUp, message),
        onEnd: (wakeUp, end) => this.#onEnd(wakeUp, end),
      },
    );
  }

  /** Wake-ups by how they ended: the status of the answer, malformed, too-old, or queue-full. */
  get ends(): ReadonlyMap<string, number> {
    return this.#ends;
  }

  /** Tries that no manager accepted. */
  get failedTries(): number {
    return this.#failedTries;
  }

  /** Wake-ups without an answer. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Addresses in the manager's list; undefined if there is no list. */
  get listed(): number | undefined {
    return this.#list.size;
  }

  get isConnected(): boolean {
    return this.#client.state.kind === 'connected';
  }

  async start(): Promise<void> {
    await this.#client.start();
    this.#checkList();
  }

  wake(wakeUp: PacketWakeUp): void {
    const { macAddress } = wakeUp.sighting;
    const { address } = wakeUp.facts.sender;
    this.#ports.logger.info(
      { event: 'wake-up', ...this.#about(wakeUp) },
      `Valid WOL packet received: wake-up of ${macAddress} by ${address}, on ${describePlace(wakeUp.facts.place)}`,
    );
    this.#queue.add(wakeUp);
  }

  counts(): { readonly accepted: number; readonly failed: number } {
    return this.#counts;
  }

  unready(): readonly string[] {
    const { kind, address, why, sinceMs } = this.#client.state;
    if (kind === 'connected') return [];
    const seconds = Math.round((this.#ports.nowMs() - sinceMs) / 1000);
    const waiting = this.#queue.size === 0 ? '' : `; wake-ups that wait: ${this.#queue.size}`;
    return [`manager ${address}: not connected for ${seconds} s: ${why}${waiting}`];
  }

  async stop(): Promise<void> {
    const until = this.#ports.nowMs() + STOP_MS;
    while (this.#queue.size > 0 && this.isConnected && this.#ports.nowMs() < until)
      await new Promise<void>((resolve) => void this.#ports.after(STOP_CHECK_MS, resolve));
    const { size } = this.#queue;
    if (size > 0)
      this.#ports.logger.error(
        { event: 'wake-ups-lost', count: size },
        `the agent is ending; ${size} wake-ups were not reported`,
      );
    this.#endListChecks();
    this.#queue.stop();
    this.#client.stop();
  }

  async #deliver({ sighting, facts }: PacketWakeUp) {
    const { macAddress } = sighting;
    const { sender, packetSize, heardAtMs } = facts;
    const { nodeName } = this.#settings;
    const ageMs = this.#ports.nowMs() - sighting.firstSeenMs;
    const report = { macAddress, nodeName, sender: sender.address, senderPort: sender.port, packetSize, heardAtMs, ageMs };
    const outcome = await this.#client.report(report);
    if (outcome.kind !== 'unavailable' && outcome.kind !== 'later') return { kind: 'answered', answer: outcome } as const;
    this.#failedTries++;
    return outcome;
  }

  #onDelayed(wakeUp: PacketWakeUp, reason: string): void {
    const message = `wake-up of ${wakeUp.sighting.macAddress} is not reported yet: ${reason}; trying for ${KEEP_MS / 60_000} minutes`;
    this.#ports.logger.warn({ event: 'report-delayed', ...this.#about(wakeUp), reason }, message);
  }

  #onEnd(wakeUp: PacketWakeUp, end: ReportEnd<ReportAnswer>): void {
    const { sighting } = wakeUp;
    if (end.kind === 'given-up') {
      this.#count(end.reason, false);
      this.#ports.hearing.refuse(sighting);
      const why =
        end.reason === 'too-old' ? `no manager accepted it in ${KEEP_MS / 60_000} minutes` : `${CAPACITY} newer wake-ups wait`;
      const message = `wake-up of ${sighting.macAddress} is given up: ${why}: ${end.lastFailure}`;
      this.#ports.logger.error({ event: 'report-given-up', ...this.#about(wakeUp), reason: end.reason }, message);
      return;
    }
    const { remembered, outcome, message } = judgeAnswer(end.answer);
    this.#count(outcome, remembered !== 'no');
    const about = { ...this.#about(wakeUp), outcome };
    if (remembered !== 'no') {
      this.#ports.hearing.accept(sighting, remembered);
      this.#ports.logger.info({ event: 'reported', ...about }, `Event reported successfully: ${sighting.macAddress}: ${message}`);
      return;
    }
    this.#ports.hearing.refuse(sighting);
    this.#ports.logger.warn(
      { event: 'report-refused', ...about },
      `Event reported, and refused: ${sighting.macAddress}: ${message}`,
    );
  }

  #count(outcome: string, isAccepted: boolean): void {
    this.#ends.set(outcome, (this.#ends.get(outcome) ?? 0) + 1);
    this.#counts[isAccepted ? 'accepted' : 'failed']++;
  }

  #onClientEvent(event: WolClientEvent): void {
    if (event.kind === 'disconnected') this.#list.disconnect(this.#ports.nowMs());
    // Another manager may be leader now, which does not know what the previous one accepted, and does not wait for machines that
    // are stopping.
    if (event.kind === 'connected') this.#ports.hearing.forgetAccepted();
    if (event.kind === 'no-list') {
      this.#list.forget();
      this.#useList();
    }
    const { level, message } = describeClientEvent(event);
    this.#ports.logger[level]({ event: event.kind }, message);
  }

  #checkList(): void {
    this.#useList();
    this.#endListChecks = this.#ports.after(LIST_CHECK_MS, () => this.#checkList());
  }

  #useList(): void {
    this.#ports.hearing.hearOnly(this.#list.machines(this.#ports.nowMs()));
  }

  #about({ sighting, facts }: PacketWakeUp) {
    const { sender, place } = facts;
    return {
      macAddress: sighting.macAddress,
      sender: sender.address,
      interface: place.interfaceName,
      listener: describePlace(place),
    };
  }
}
