/** The page as part of a process: it listens when it can, with the newest certificate of its directory, and blocks nothing else when it cannot. */
import { formatListenAddress } from '@vmdhcp/service-process';
import { endOf, readPageCertificate } from './page-certificate.js';
import { type PageCertificate, PageServer, type PageServerSettings } from './page-server.js';

/** The page as a part of a process, whose certificate may be replaced. */
export interface PageServiceSettings extends Omit<PageServerSettings, 'certificate'> {
  /** A directory with tls.crt and tls.key, such as a mounted Secret; undefined for HTTP without TLS. */
  readonly tlsDirectory: string | undefined;
  readonly onListening: (port: number) => void;
  /** New connections use another certificate, which expires at this time (milliseconds since 1970). Open pages continue. */
  readonly onReplaced: (endsAtMs: number) => void;
  /** It does not listen, or a new certificate cannot be used; this is retried. The former certificate stays in use. */
  readonly onProblem: (message: string) => void;
}

const RETRY_MS = 5_000;
/** How soon a replaced certificate is used. */
const LOOK_MS = 60_000;

/** A page that is served as soon as possible. */
export class PageService {
  readonly #settings: PageServiceSettings;
  #server: PageServer | undefined;
  #certificate: PageCertificate | undefined;
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(settings: PageServiceSettings) {
    this.#settings = settings;
  }

  /** The port; undefined if it does not listen yet. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /** The number of open pages. */
  get streams(): number {
    return this.#server?.streams ?? 0;
  }

  start(): void {
    this.#looking = this.#look();
  }

  /** Resolves when every connection is closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#looking;
    await this.#server?.stop();
  }

  async #look(): Promise<void> {
    const { tlsDirectory, clock, listen, wallTimeMs } = this.#settings;
    try {
      await this.#serve(tlsDirectory === undefined ? undefined : await readPageCertificate(tlsDirectory, wallTimeMs()));
      this.#problem = undefined;
    } catch (error) {
      const where = `the page on ${formatListenAddress(listen)}`;
      const kept = this.#certificate === undefined ? '' : '; the certificate before stays in use';
      const message = `${where}: ${error instanceof Error ? error.message : String(error)}${kept}`;
      if (message !== this.#problem) this.#settings.onProblem(message);
      this.#problem = message;
    }
    const isSettled = this.#server !== undefined && tlsDirectory === undefined;
    if (this.#isStopped || isSettled) return;
    this.#cancel = clock.after(this.#server === undefined ? RETRY_MS : LOOK_MS, () => this.start());
  }

  async #serve(certificate: PageCertificate | undefined): Promise<void> {
    if (this.#isStopped) return;
    if (this.#server === undefined) await this.#listen(certificate);
    else if (certificate !== undefined && certificate.certificate !== this.#certificate?.certificate) {
      this.#server.use(certificate);
      this.#settings.onReplaced(endOf(certificate));
    }
    this.#certificate = certificate;
  }

  async #listen(certificate: PageCertificate | undefined): Promise<void> {
    this.#server = await PageServer.start({ ...this.#settings, certificate });
    if (this.#isStopped) return;
    this.#settings.onListening(this.#server.port);
  }
}
