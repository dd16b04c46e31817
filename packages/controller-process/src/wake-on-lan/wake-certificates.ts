/**
 * The certificates of Wake-on-LAN: one authority, the certificate of the managers, and that of the agents, which mount it. Every
 * replica keeps them. Errors are logged and the upkeep is tried again: DHCP does not depend on it.
 */
import type { Clock, WatchedObjects } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import { CertificateKeeper, DEFAULT_TIMES, type KeptCertificate, type SecretStore } from '@vmdhcp/service-certificates';
import { certificateIssuer, certificateReader } from '@vmdhcp/service-certificates/node';
import type { Logger } from '@vmdhcp/service-process';
import { AGENT_NAME, MANAGER_NAME, type TlsMaterial } from '@vmdhcp/wake-on-lan/service';

/** Names of the Secrets, in the namespace of the agents. */
const AUTHORITY_SECRET = 'vmdhcp-wake-on-lan-ca';
const MANAGER_SECRET = 'vmdhcp-wake-on-lan-tls';
export const AGENT_SECRET = 'vmdhcp-wake-on-lan-agent-tls';

export const WAKE_SECRETS = [AUTHORITY_SECRET, MANAGER_SECRET, AGENT_SECRET];

/** The interval if changes are not watched. */
const LOOK_MS = 10_000;
const FIRST_LOOK_MS = 2_000;
/** The interval if changes are watched: for changes by time alone. */
const WATCHED_LOOK_MS = 600_000;
/** Changes within this time are handled together; objects that are written all the time, once in this time. */
const GATHER_MS = 1_000;

export interface WakeCertificatesPorts {
  readonly secrets: SecretStore;
  /** Reports changes of the three Secrets. */
  readonly watch: (onChange: () => void) => WatchedObjects;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  readonly logger: Logger;
  /** Called with what the manager must use from now on. */
  readonly onMaterial: (material: TlsMaterial) => void;
  /** Called with the expiry of a certificate in use, in milliseconds since 1970. */
  readonly onExpiry?: (certificate: 'manager' | 'agents', notAfterMs: number) => void;
}

export class WakeCertificates {
  readonly #ports: WakeCertificatesPorts;
  readonly #manager: CertificateKeeper;
  readonly #agents: CertificateKeeper;
  #used: KeptCertificate | undefined;
  #problem: string | undefined = 'there is no certificate yet';
  readonly #watched: WatchedObjects;
  /** Undefined if a check is in progress, or none was begun. */
  #cancel: (() => void) | undefined;
  #hasChanged = false;
  #look: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(ports: WakeCertificatesPorts) {
    this.#ports = ports;
    this.#manager = this.#keeper(MANAGER_SECRET, MANAGER_NAME);
    this.#agents = this.#keeper(AGENT_SECRET, AGENT_NAME);
    this.#watched = ports.watch(() => this.#note());
  }

  /** Why there is no certificate, or it cannot be kept, for people; undefined if all is well. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    this.#watched.start();
    this.#begin();
  }

  /** Resolves when nothing is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watched.stop();
    this.#cancel?.();
    await this.#look;
  }

  #note(): void {
    // Further changes meanwhile cause no delay.
    if (this.#hasChanged || this.#isStopped) return;
    this.#hasChanged = true;
    if (this.#cancel !== undefined) this.#lookIn(GATHER_MS);
  }

  #lookIn(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(ms, () => this.#begin());
  }

  #begin(): void {
    this.#cancel = undefined;
    this.#hasChanged = false;
    this.#look = this.#keep();
  }

  #waitMs(): number {
    if (this.#hasChanged) return GATHER_MS;
    if (this.#used === undefined) return FIRST_LOOK_MS;
    return this.#problem === undefined && this.#watched.isComplete() ? WATCHED_LOOK_MS : LOOK_MS;
  }

  async #keep(): Promise<void> {
    const { logger, wallTimeMs } = this.#ports;
    try {
      const kept = await this.#manager.keep(wallTimeMs());
      // Agents get a new authority a day before a manager has a certificate of it.
      const ofAgents = await this.#agents.keep(wallTimeMs());
      this.#noteExpiry('manager', kept);
      this.#noteExpiry('agents', ofAgents);
      this.#use(kept);
      this.#report(kept.problem ?? ofAgents.problem);
    } catch (error) {
      const message = `the certificates of Wake-on-LAN cannot be kept: ${error instanceof Error ? error.message : String(error)}`;
      if (message !== this.#problem && !this.#isStopped)
        logger.error({ err: errorForLog(error) }, 'the certificates of Wake-on-LAN cannot be kept; retrying');
      this.#problem = message;
    }
    if (!this.#isStopped) this.#lookIn(this.#waitMs());
  }

  #noteExpiry(of: 'manager' | 'agents', { pair }: KeptCertificate): void {
    const facts = certificateReader.read(pair.certificate);
    if (facts !== undefined) this.#ports.onExpiry?.(of, facts.notAfterMs);
  }

  #use(kept: KeptCertificate): void {
    const isSame = kept.pair.certificate === this.#used?.pair.certificate && kept.trusted === this.#used.trusted;
    this.#used = kept;
    if (isSame || this.#isStopped) return;
    const { certificate, key } = kept.pair;
    this.#ports.onMaterial({ certificate, key, authorities: kept.trusted });
    const { notAfterMs = 0 } = certificateReader.read(certificate) ?? {};
    this.#ports.logger.info({ notAfter: new Date(notAfterMs).toISOString() }, 'certificate of Wake-on-LAN in use');
  }

  #report(problem: KeptCertificate['problem']): void {
    const message =
      problem === undefined
        ? undefined
        : `the clock of this host is behind: the authority in Secret ${AUTHORITY_SECRET} is not valid yet. Correct the clock; if it is right, delete the Secret`;
    if (message !== undefined && message !== this.#problem) this.#ports.logger.error(message);
    this.#problem = message;
  }

  #keeper(servingSecret: string, name: string): CertificateKeeper {
    return new CertificateKeeper({
      secrets: this.#ports.secrets,
      reader: certificateReader,
      issuer: certificateIssuer,
      authoritySecret: AUTHORITY_SECRET,
      servingSecret,
      authorityName: 'vmdhcp wake-on-lan',
      names: [name],
      times: DEFAULT_TIMES,
      onStep: ({ kind, ...step }) => this.#ports.logger.info({ step: kind, ...step }, 'Secret of certificates written'),
    });
  }
}
