import type { WolClientEvent } from '../report/wol-client-event.js';
import { findCertificateProblem, readCertificateDirectory } from '../tls/certificate-directory.js';
import type { TlsMaterial } from '../tls/tls-material.js';

export interface ClientCertificatesSettings {
  readonly directory: string;
  /** Milliseconds between two checks of the directory. */
  readonly checkIntervalMs: number;
  readonly observe: (event: WolClientEvent) => void;
  /** Called when the files changed. */
  readonly onChange: () => void;
}

/** The certificate of a client, which is read again while it is used. */
export class ClientCertificates {
  readonly #settings: ClientCertificatesSettings;
  #material: TlsMaterial | undefined;
  #problem: string | undefined;
  #isReading = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: ClientCertificatesSettings) {
    this.#settings = settings;
  }

  /** The last readable files; undefined if none yet. */
  get material(): TlsMaterial | undefined {
    return this.#material;
  }

  /** The problem of the current files. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => void this.#read(), this.#settings.checkIntervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const read = await readCertificateDirectory(this.#settings.directory);
    this.#isReading = false;
    if (!read.ok) return this.#report(read.problem);
    this.#report(findCertificateProblem(read.material, Date.now()));
    if (isSame(read.material, this.#material)) return;
    this.#material = read.material;
    this.#settings.observe({ kind: 'certificates-read' });
    this.#settings.onChange();
  }

  #report(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#problem) this.#settings.observe({ kind: 'certificates-problem', problem });
    this.#problem = problem;
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial | undefined): boolean {
  return one.certificate === other?.certificate && one.key === other.key && one.authorities === other.authorities;
}
