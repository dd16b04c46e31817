/**
 * An agent of Wake-on-LAN: listeners, and the interpretation of their packets. The handling decides what is done about a wake-up.
 */
import type { Server } from 'node:http';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { type HearingSettings, PacketHearing } from '../listen/hear-packet.js';
import type { ListeningPlace, MagicPacketSender } from '../listen/listening-ports.js';
import { WakeListeners, type WakeListenersSettings } from '../listen/wake-listeners.js';
import type { WakeUpEnds } from '../report/packet-wake-up.js';
import { describeListeningEvent } from './describe-listening-event.js';
import { linuxListening } from './linux-listening.js';
import { createWakeMetrics } from './wake-metrics.js';
import type { WakeUpHandling } from './wake-up-handling.js';

const CHECK_INTERVAL_MS = 1_000;

/** What an agent of Wake-on-LAN listens to, and what it does about wake-ups. */
export interface WakeAgentSettings extends WakeListenersSettings, HearingSettings {
  readonly promiscuous: boolean;
  readonly handle: (hearing: WakeUpEnds, logger: Logger) => WakeUpHandling;
  /** Undefined for no HTTP. */
  readonly http: ListenAddress | undefined;
}

/** An agent on one host: receives magic packets and passes each wake-up on, to a command or to the manager. */
export class WakeAgent {
  readonly #settings: WakeAgentSettings;
  readonly #logger: Logger;
  readonly #hearing: PacketHearing;
  readonly #listeners: WakeListeners;
  readonly #packets = new Map<string, number>();
  readonly #handling: WakeUpHandling;
  #ends: readonly (() => void)[] = [];

  /** Resolves when all possible listeners are open. @throws CommandError if the HTTP address is in use. */
  static async start(settings: WakeAgentSettings, logger: Logger): Promise<WakeAgent> {
    const agent = new WakeAgent(settings, logger);
    await agent.#start();
    return agent;
  }

  private constructor(settings: WakeAgentSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.#hearing = new PacketHearing(settings);
    this.#handling = settings.handle(this.#hearing, logger);
    const ports = {
      ...linuxListening(settings.promiscuous),
      observe: (event: Parameters<typeof describeListeningEvent>[0]) => {
        const { level, message } = describeListeningEvent(event);
        logger[level]({ event: event.kind }, message);
      },
    };
    this.#listeners = new WakeListeners(settings, ports, (payload, place, sender) => this.#onPayload(payload, place, sender));
  }

  /** Stops listening; resolves when wake-ups in progress have ended, or after a few seconds. */
  async stop(): Promise<void> {
    this.#listeners.stop();
    await this.#handling.stop();
    for (const end of this.#ends) end();
  }

  async #start(): Promise<void> {
    const { http } = this.#settings;
    const server = http === undefined ? undefined : await this.#startStatusServer(http);
    await this.#handling.start();
    await this.#listeners.check(performance.now());
    const timer = setInterval(() => void this.#listeners.check(performance.now()), CHECK_INTERVAL_MS);
    this.#ends = [() => clearInterval(timer), () => closeAtOnce(server)];
    const { listening, dead } = this.#listeners;
    for (const line of listening.length === 0 ? dead : []) this.#logger.error({ event: 'not-listening' }, line);
  }

  #onPayload(payload: Uint8Array, place: ListeningPlace, sender: () => MagicPacketSender): void {
    const heard = this.#hearing.hear(payload, () => sender().address, performance.now());
    const outcome = heard.kind === 'wake-up' ? heard.kind : heard.reason;
    this.#packets.set(outcome, (this.#packets.get(outcome) ?? 0) + 1);
    if (heard.kind !== 'wake-up') return;
    const facts = { place, sender: sender(), packetSize: payload.length, heardAtMs: Date.now() };
    this.#handling.wake({ sighting: heard.sighting, facts });
  }

  #startStatusServer(where: ListenAddress): Promise<Server> {
    const registry = createWakeMetrics({
      packets: () => this.#packets,
      wakeUps: () => this.#handling.counts(),
      listeners: () => ({ listening: this.#listeners.listening.length, dead: this.#listeners.dead.length }),
    });
    this.#handling.registerMetrics(registry);
    return startStatusServer(where, {
      unready: () => [...this.#listeners.dead, ...this.#handling.unready()],
      unhealthy: () => (this.#listeners.listening.length === 0 ? this.#listeners.dead : []),
      registry,
    });
  }
}

function closeAtOnce(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
