/** In a cluster: each wake-up is kept until the manager that leads has answered, or until two minutes are over. */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { Logger } from '@vmdhcp/service-process';
import { describePlace, type ReportEnd, ReportQueue } from '@vmdhcp/wake-on-lan';
import { backOffMs, WolClient, type WolClientEvent } from '@vmdhcp/wol-service';
import { describeClientEvent } from './describe-client-event.js';
import { judgeAnswer, type ReportAnswer } from './judge-answer.js';
import { registerReportMetrics } from './report-metrics.js';
import type { PacketFacts, PacketWakeUp, WakeUpEnds, WakeUpHandling } from './wake-up-handling.js';
import { WakeableList } from './wakeable-list.js';

const CAPACITY = 10_000;
const KEEP_MS = 120_000;
const REPORTS_AT_ONCE = 16;
const LIST_CHECK_MS = 1_000;
const STOP_MS = 5_000;
const STOP_CHECK_MS = 20;

export interface ManagerHandlingSettings {
  /** host:port */
  readonly manager: string;
  readonly nodeName: string;
  /** `SECRET/KEY` of the password that is checked; undefined: none is, or it has no name. */
  readonly passwordSecret: string | undefined;
  /** Undefined: clear text. */
  readonly tlsDirectory: string | undefined;
  /** Machines of the command line; undefined: all. */
  readonly machines: ReadonlySet<MacAddress> | undefined;
  readonly udpPorts: readonly number[];
}

export class ManagerHandling implements WakeUpHandling {
  readonly #settings: ManagerHandlingSettings;
  readonly #hearing: WakeUpEnds;
  readonly #logger: Logger;
  readonly #client: WolClient;
  readonly #queue: ReportQueue<PacketFacts, ReportAnswer>;
  readonly #list: WakeableList;
  readonly #counts = { accepted: 0, failed: 0 };
  /** Wake-ups by how they ended. */
  readonly #ends = new Map<string, number>();
  #failedTries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: ManagerHandlingSettings, hearing: WakeUpEnds, logger: Logger) {
    this.#settings = settings;
    this.#hearing = hearing;
    this.#logger = logger;
    this.#list = new WakeableList(settings.machines);
    this.#client = new WolClient({
      manager: settings.manager,
      nodeName: settings.nodeName,
      passwordSecret: settings.passwordSecret,
      tlsDirectory: settings.tlsDirectory,
      observe: (event) => this.#onClientEvent(event),
      onReachable: () => this.#queue.managerIsReachable(),
      onAddresses: (addresses) => {
        this.#list.take(addresses);
        this.#useList();
      },
    });
    this.#queue = new ReportQueue<PacketFacts, ReportAnswer>(
      { capacity: CAPACITY, keepMs: KEEP_MS, atOnce: REPORTS_AT_ONCE },
      {
        nowMs: () => performance.now(),
        after: (delayMs, run) => {
          const timer = setTimeout(run, delayMs);
          return () => clearTimeout(timer);
        },
        pauseMs: (failures) => backOffMs(failures, Math.random()),
        deliver: (wakeUp) => this.#deliver(wakeUp),
        onDelayed: (wakeUp, message) => this.#onDelayed(wakeUp, message),
        onEnd: (wakeUp, end) => this.#onEnd(wakeUp, end),
      },
    );
  }

  async start(): Promise<void> {
    await this.#client.start();
    this.#timer = setInterval(() => this.#useList(), LIST_CHECK_MS);
  }

  wake(wakeUp: PacketWakeUp): void {
    const { macAddress } = wakeUp.sighting;
    const { address } = wakeUp.facts.sender;
    this.#logger.info(
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
    const seconds = Math.round((performance.now() - sinceMs) / 1000);
    const waiting = this.#queue.size === 0 ? '' : `; wake-ups that wait: ${this.#queue.size}`;
    return [`manager ${address}: not connected for ${seconds} s: ${why}${waiting}`];
  }

  registerMetrics(registry: Parameters<typeof registerReportMetrics>[0]): void {
    const { nodeName: node, manager: operator, udpPorts: ports } = this.#settings;
    registerReportMetrics(registry, {
      info: { node, operator, ports },
      ends: () => this.#ends,
      failedTries: () => this.#failedTries,
      waiting: () => this.#queue.size,
      listed: () => this.#list.size,
      isConnected: () => this.#client.state.kind === 'connected',
      remembered: () => this.#hearing.size,
    });
  }

  async stop(): Promise<void> {
    const until = performance.now() + STOP_MS;
    const isConnected = () => this.#client.state.kind === 'connected';
    while (this.#queue.size > 0 && isConnected() && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, STOP_CHECK_MS));
    const { size } = this.#queue;
    if (size > 0)
      this.#logger.error({ event: 'wake-ups-lost', count: size }, `the agent ends; ${size} wake-ups were not reported`);
    clearInterval(this.#timer);
    this.#queue.stop();
    this.#client.stop();
  }

  async #deliver({ sighting, facts }: PacketWakeUp) {
    const { macAddress } = sighting;
    const { sender, packetSize, heardAtMs } = facts;
    const { nodeName } = this.#settings;
    const ageMs = performance.now() - sighting.firstSeenMs;
    const report = { macAddress, nodeName, sender: sender.address, senderPort: sender.port, packetSize, heardAtMs, ageMs };
    const outcome = await this.#client.report(report);
    if (outcome.kind !== 'unavailable' && outcome.kind !== 'later') return { kind: 'answered', answer: outcome } as const;
    this.#failedTries++;
    return outcome;
  }

  #onDelayed(wakeUp: PacketWakeUp, reason: string): void {
    const message = `wake-up of ${wakeUp.sighting.macAddress} is not reported yet: ${reason}; it is tried for ${KEEP_MS / 60_000} minutes`;
    this.#logger.warn({ event: 'report-delayed', ...this.#about(wakeUp), reason }, message);
  }

  #onEnd(wakeUp: PacketWakeUp, end: ReportEnd<ReportAnswer>): void {
    const { sighting } = wakeUp;
    if (end.kind === 'given-up') {
      this.#count(end.reason, false);
      this.#hearing.refuse(sighting);
      const why =
        end.reason === 'too-old' ? `no manager took it in ${KEEP_MS / 60_000} minutes` : `${CAPACITY} newer wake-ups wait`;
      const message = `wake-up of ${sighting.macAddress} is given up: ${why}: ${end.lastFailure}`;
      this.#logger.error({ event: 'report-given-up', ...this.#about(wakeUp), reason: end.reason }, message);
      return;
    }
    const { remembered, outcome, message } = judgeAnswer(end.answer);
    this.#count(outcome, remembered !== 'no');
    const about = { ...this.#about(wakeUp), outcome };
    if (remembered !== 'no') {
      this.#hearing.accept(sighting, remembered);
      this.#logger.info({ event: 'reported', ...about }, `Event reported successfully: ${sighting.macAddress}: ${message}`);
      return;
    }
    this.#hearing.refuse(sighting);
    this.#logger.warn({ event: 'report-refused', ...about }, `Event reported, and refused: ${sighting.macAddress}: ${message}`);
  }

  #count(outcome: string, isAccepted: boolean): void {
    this.#ends.set(outcome, (this.#ends.get(outcome) ?? 0) + 1);
    this.#counts[isAccepted ? 'accepted' : 'failed']++;
  }

  #onClientEvent(event: WolClientEvent): void {
    if (event.kind === 'disconnected') this.#list.disconnect(performance.now());
    // Another manager may lead now, which does not know what the one before accepted, and waits for no machine that stops.
    if (event.kind === 'connected') this.#hearing.forgetAccepted();
    if (event.kind === 'no-list') {
      this.#list.forget();
      this.#useList();
    }
    const { level, message } = describeClientEvent(event);
    this.#logger[level]({ event: event.kind }, message);
  }

  #useList(): void {
    this.#hearing.hearOnly(this.#list.machines(performance.now()));
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
