/** An agent for Wake-on-LAN without a cluster: listeners, what their packets mean, and what is done about a wake-up. */
import type { Server } from 'node:http';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import {
  describePlace,
  type HearingSettings,
  type ListeningPlace,
  PacketHearing,
  type Sighting,
  WakeListeners,
  type WakeListenersSettings,
} from '@vmdhcp/wake-on-lan';
import { describeListeningEvent } from './describe-listening-event.js';
import { linuxListening } from './linux-listening.js';
import type { CommandOutcome, WakeCommand } from './wake-command.js';
import { createWakeMetrics } from './wake-metrics.js';

const CHECK_INTERVAL_MS = 1_000;

export interface WakeAgentSettings extends WakeListenersSettings, HearingSettings {
  readonly promiscuous: boolean;
  /** Undefined: wake-ups are only logged. */
  readonly command: WakeCommand | undefined;
  /** Undefined: no HTTP. */
  readonly http: ListenAddress | undefined;
}

/** Where the first packet of a wake-up came from. */
interface Origin {
  readonly place: ListeningPlace;
  readonly sender: string;
}

export class WakeAgent {
  readonly #settings: WakeAgentSettings;
  readonly #logger: Logger;
  readonly #hearing: PacketHearing;
  readonly #listeners: WakeListeners;
  readonly #packets = new Map<string, number>();
  readonly #wakeUps = { accepted: 0, failed: 0 };
  #ends: readonly (() => void)[] = [];

  /** Resolves when what can listen listens. @throws CommandError where the HTTP address is in use. */
  static async start(settings: WakeAgentSettings, logger: Logger): Promise<WakeAgent> {
    const agent = new WakeAgent(settings, logger);
    await agent.#start();
    return agent;
  }

  private constructor(settings: WakeAgentSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.#hearing = new PacketHearing(settings);
    const ports = {
      ...linuxListening(settings.promiscuous),
      observe: (event: Parameters<typeof describeListeningEvent>[0]) => {
        const { level, message } = describeListeningEvent(event);
        logger[level]({ event: event.kind }, message);
      },
    };
    this.#listeners = new WakeListeners(settings, ports, (payload, place, sender) => this.#onPayload(payload, place, sender));
  }

  stop(): void {
    for (const end of this.#ends) end();
    this.#listeners.stop();
  }

  async #start(): Promise<void> {
    const { http } = this.#settings;
    const server = http === undefined ? undefined : await this.#startStatusServer(http);
    await this.#listeners.check(performance.now());
    const timer = setInterval(() => void this.#listeners.check(performance.now()), CHECK_INTERVAL_MS);
    this.#ends = [() => clearInterval(timer), () => closeAtOnce(server)];
    const { listening, dead } = this.#listeners;
    for (const line of listening.length === 0 ? dead : []) this.#logger.error({ event: 'not-listening' }, line);
  }

  #onPayload(payload: Uint8Array, place: ListeningPlace, sender: () => string): void {
    const heard = this.#hearing.hear(payload, sender, performance.now());
    const outcome = heard.kind === 'wake-up' ? heard.kind : heard.reason;
    this.#packets.set(outcome, (this.#packets.get(outcome) ?? 0) + 1);
    if (heard.kind === 'wake-up') void this.#wake(heard.sighting, { place, sender: sender() });
  }

  async #wake(sighting: Sighting, { place, sender }: Origin): Promise<void> {
    const { macAddress } = sighting;
    const facts = { macAddress, sender, interface: place.interfaceName, listener: describePlace(place) };
    const outcome = await this.#act(sighting, { place, sender });
    if (outcome.ok) {
      this.#hearing.accept(sighting);
      this.#wakeUps.accepted++;
      this.#logger.info({ event: 'wake-up', ...facts }, `wake-up of ${macAddress} by ${sender}, on ${facts.listener}`);
      return;
    }
    this.#hearing.refuse(sighting);
    this.#wakeUps.failed++;
    const message = `wake-up of ${macAddress} by ${sender}, on ${facts.listener}: the command failed: ${outcome.why}`;
    this.#logger.error({ event: 'wake-up-failed', ...facts, reason: outcome.why }, message);
  }

  async #act({ macAddress }: Sighting, { place, sender }: Origin): Promise<CommandOutcome> {
    const { command } = this.#settings;
    if (command === undefined) return { ok: true };
    return command.run({
      WOL_MAC: macAddress,
      WOL_SENDER: sender,
      WOL_INTERFACE: place.interfaceName,
      WOL_LISTENER: describePlace(place),
    });
  }

  #startStatusServer(where: ListenAddress): Promise<Server> {
    return startStatusServer(where, {
      unready: () => this.#listeners.dead,
      unhealthy: () => (this.#listeners.listening.length === 0 ? this.#listeners.dead : []),
      registry: createWakeMetrics({
        packets: () => this.#packets,
        wakeUps: () => this.#wakeUps,
        listeners: () => ({ listening: this.#listeners.listening.length, dead: this.#listeners.dead.length }),
      }),
    });
  }
}

function closeAtOnce(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
