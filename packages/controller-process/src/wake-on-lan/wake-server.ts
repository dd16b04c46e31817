/**
 * The gRPC server as a part of the controller: it listens in every replica, as soon as there is a certificate, and only the
 * leader decides. It never ends the process: an address in use, or Secrets that cannot be read, are logged, shown by /readyz and
 * tried again.
 */
import type { Clock, ControllerPart } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import { formatListenAddress, type ListenAddress, type Logger } from '@vmdhcp/service-process';
import {
  startWolServer,
  type TlsMaterial,
  type WolHandler,
  type WolServer,
  type WolServerEvent,
} from '@vmdhcp/wake-on-lan/service';
import { createServerLog } from './server-log.js';

const RETRY_MS = 5_000;
/**
 * The Lease of the controllers is released when all parts have stopped: DHCP must not wait for an unresponsive KubeVirt API, or
 * for an agent that keeps its connection.
 */
const STOP_MS = 3_000;

/** The upkeep of certificates. */
export interface MaterialSource {
  readonly problem: string | undefined;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface WakeServerSettings {
  readonly listen: ListenAddress;
  readonly handler: WolHandler;
  /** Undefined for clear text. @param onMaterial - called with what the server must use. */
  readonly openCertificates: ((onMaterial: (material: TlsMaterial) => void) => MaterialSource) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends answers in progress, and everything else that must end before the process does. */
  readonly onStop: () => Promise<void>;
}

export class WakeServer implements ControllerPart {
  readonly name = 'wake-on-lan server';
  /** It has no caches. */
  readonly synced = true;
  readonly #settings: WakeServerSettings;
  readonly #certificates: MaterialSource | undefined;
  readonly #log: (event: WolServerEvent) => void;
  #material: TlsMaterial | undefined;
  #server: WolServer | undefined;
  #listening: Promise<void> | undefined;
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #isStopped = false;

  constructor(settings: WakeServerSettings) {
    this.#settings = settings;
    this.#log = createServerLog(settings.logger, settings.clock.nowMs);
    this.#certificates = settings.openCertificates?.((material) => this.#use(material));
  }

  /** The port it listens on; undefined if not yet. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /** The number of agents that follow the list of addresses. */
  get followers(): number {
    return this.#server?.followers ?? 0;
  }

  readonly unready = (): readonly string[] => {
    if (this.#problem !== undefined) return [this.#problem];
    if (this.#server !== undefined) return [];
    return [this.#certificates?.problem ?? 'it does not listen yet'];
  };

  start(): void {
    if (this.#certificates === undefined) this.#listen();
    else this.#certificates.start();
  }

  lead(): void {
    // It determines the leader at each report.
  }

  /** Resolves when nothing is in progress, or after three seconds. Remaining requests are harmless: only the leader sends them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    const { clock, logger } = this.#settings;
    const late = Promise.withResolvers<void>();
    const callOff = clock.after(STOP_MS, () => {
      logger.warn(
        `Wake-on-LAN has requests or connections that did not end within ${STOP_MS / 1000} s; the process ends without them`,
      );
      late.resolve();
    });
    await Promise.race([this.#end(), late.promise]);
    callOff();
  }

  async #end(): Promise<void> {
    const certificates = this.#certificates?.stop();
    await this.#listening;
    await Promise.all([certificates, this.#settings.onStop(), this.#server?.stop()]);
  }

  #use(material: TlsMaterial): void {
    this.#material = material;
    if (this.#server === undefined) {
      this.#listen();
      return;
    }
    try {
      this.#server.use(material);
    } catch (error) {
      this.#settings.logger.error(
        { err: errorForLog(error) },
        'the certificate of Wake-on-LAN cannot be used; the one before stays in use',
      );
    }
  }

  #listen(): void {
    this.#listening ??= this.#tryToListen().finally(() => {
      this.#listening = undefined;
    });
  }

  async #tryToListen(): Promise<void> {
    const { listen, handler, logger, clock } = this.#settings;
    if (this.#isStopped) return;
    const material = this.#material;
    try {
      this.#server = await startWolServer({ listen, tls: material, handler, observe: this.#log });
      this.#problem = undefined;
      const isSecure = material !== undefined;
      logger.info({ host: listen.host, port: this.#server.port, tls: isSecure }, 'listening for reports of Wake-on-LAN agents');
      if (!isSecure)
        logger.warn(
          'Wake-on-LAN has no TLS (--wake-on-lan-clear-text): every host that reaches this port can start virtual machines',
        );
      if (this.#material !== undefined && this.#material !== material) this.#server.use(this.#material);
    } catch (error) {
      const message = `cannot listen on ${formatListenAddress(listen)}: ${error instanceof Error ? error.message : String(error)}`;
      if (message !== this.#problem) logger.error(`Wake-on-LAN ${message}; retrying. DHCP continues`);
      this.#problem = message;
      if (!this.#isStopped) this.#cancel = clock.after(RETRY_MS, () => this.#listen());
    }
  }
}
