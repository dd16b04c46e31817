/**
 * Keeps an authority and one certificate in two Secrets. Any replica may do it: a write succeeds only if the Secret has not changed since it was
 * read, so if replicas write at the same moment, one wins, and the others read its result. No leader is needed.
 */
import {
  type AuthorityMaterial,
  keepRetired,
  observeAuthority,
  observePair,
  publishedBy,
  toAuthorityData,
  toAuthorityMaterial,
} from './authority-secret.js';
import type { CertificateTimes } from './plan/certificate-times.js';
import { type AuthorityStep, planAuthority } from './plan/plan-authority.js';
import { type ObservedServing, planServing, type ServingStep } from './plan/plan-serving.js';
import type { CertificateIssuer, CertificateReader, Pair, SecretStore, StoredSecret } from './ports.js';

/** Which Secrets a keeper keeps, for which names, and how long certificates last. */
export interface CertificateKeeperSettings {
  readonly secrets: SecretStore;
  readonly reader: CertificateReader;
  readonly issuer: CertificateIssuer;
  /** Names of the Secrets. */
  readonly authoritySecret: string;
  readonly servingSecret: string;
  /** Common name of the authority. */
  readonly authorityName: string;
  /** DNS names and IP addresses of the certificate. */
  readonly names: readonly string[];
  readonly times: CertificateTimes;
  /** Called after each write; the report contains no key. */
  readonly onStep?: (step: KeptStep) => void;
}

/** A write to a Secret, and its reason. */
export type KeptStep =
  | ({ readonly secret: string; readonly of: 'authority' } & Exclude<AuthorityStep, { readonly kind: 'keep' }>)
  | ({ readonly secret: string; readonly of: 'certificate' } & Exclude<ServingStep, { readonly kind: 'keep' }>);

/** The certificates for a server and its clients. */
export interface KeptCertificate {
  /** PEM, for the server. The key must not be logged. */
  readonly pair: Pair;
  /** PEM: the certificates that clients must trust. Several while the authority changes. */
  readonly trusted: string;
  /** When the next step is due, unless a Secret changes; in milliseconds since 1970. */
  readonly checkAtMs: number;
  /** `clock-behind`: by this clock, the authority is not valid yet; nothing is changed before it is. */
  readonly problem?: 'clock-behind';
}

/** More steps in a row mean that something else keeps writing the Secrets. */
const MOST_STEPS = 12;

/** Others write the Secrets as fast as this process. */
export class CertificatesContestedError extends Error {
  readonly code = 'ERR_CERTIFICATES_CONTESTED';
  readonly canRetry = true;
}

/** Keeps an authority and one certificate in two Secrets, and renews both in time. Any replica does it; no leader is needed. */
export class CertificateKeeper {
  readonly #settings: CertificateKeeperSettings;

  constructor(settings: CertificateKeeperSettings) {
    this.#settings = settings;
  }

  /**
   * Updates both Secrets if necessary, and returns their content. If nothing is due, it reads two Secrets and writes nothing.
   * @param nowMs - milliseconds since 1970.
   * @throws CertificatesContestedError, and the errors of the store.
   */
  async keep(nowMs: number): Promise<KeptCertificate> {
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const kept = await this.#takeStep(nowMs);
      if (kept !== undefined) return kept;
    }
    const { authoritySecret, servingSecret } = this.#settings;
    throw new CertificatesContestedError(`Secrets ${authoritySecret} and ${servingSecret} are changed all the time by others`);
  }

  /** Undefined if this or another replica wrote something: look again. */
  async #takeStep(nowMs: number): Promise<KeptCertificate | undefined> {
    const { secrets, reader, authoritySecret, times } = this.#settings;
    const stored = await secrets.read(authoritySecret);
    const plan = planAuthority(observeAuthority(stored.data, reader), nowMs, times);
    if (plan.kind === 'keep') return await this.#keepServing(toAuthorityMaterial(stored.data), plan, nowMs);
    const data = toAuthorityData(await this.#nextMaterial(stored, plan, nowMs));
    const result = await secrets.write(authoritySecret, stored, data);
    if (result === 'written') this.#settings.onStep?.({ secret: authoritySecret, of: 'authority', ...plan });
    return undefined;
  }

  async #nextMaterial(
    stored: StoredSecret,
    plan: Exclude<AuthorityStep, { readonly kind: 'keep' }>,
    nowMs: number,
  ): Promise<AuthorityMaterial> {
    const { reader } = this.#settings;
    const { issuer, successor, retired } = toAuthorityMaterial(stored.data);
    const keep = (...former: readonly string[]) => keepRetired([...former, ...retired], reader, nowMs);
    switch (plan.kind) {
      case 'create': {
        const former = plan.keepsFormer ? keep(issuer.certificate) : [];
        return { issuer: await this.#createAuthority(nowMs), successor: undefined, retired: former };
      }
      case 'add-successor':
        return { issuer, successor: await this.#createAuthority(nowMs), retired: keep() };
      case 'promote-successor':
        return { issuer: successor ?? issuer, successor: undefined, retired: keep(issuer.certificate) };
      case 'republish':
        return { issuer, successor, retired: keep() };
    }
  }

  async #createAuthority(nowMs: number): Promise<Pair> {
    const { issuer, authorityName, times } = this.#settings;
    const validity = { notBeforeMs: nowMs - times.backdatedMs, notAfterMs: nowMs + times.authorityLifetimeMs };
    return await issuer.createAuthority(authorityName, validity);
  }

  async #keepServing(
    authority: AuthorityMaterial,
    kept: Extract<AuthorityStep, { readonly kind: 'keep' }>,
    nowMs: number,
  ): Promise<KeptCertificate | undefined> {
    const stored = await this.#settings.secrets.read(this.#settings.servingSecret);
    const pair = { certificate: stored.data['tls.crt'] ?? '', key: stored.data['tls.key'] ?? '' };
    const trusted = publishedBy(authority);
    const observed = this.#observeServing(stored, authority);
    // A clock that is behind cannot judge the times of the certificate.
    const isLeft = kept.problem !== undefined && observed.pair.kind === 'readable' && observed.isIssuedByIssuer;
    const plan = isLeft ? kept : planServing(observed, this.#settings.names, nowMs);
    if (plan.kind === 'keep') {
      const checkAtMs = Math.min(plan.checkAtMs, kept.checkAtMs);
      return { pair, trusted, checkAtMs, ...(kept.problem && { problem: kept.problem }) };
    }
    const next = plan.kind === 'issue' ? await this.#issue(authority.issuer, nowMs) : pair;
    await this.#writeServing(stored, { 'tls.crt': next.certificate, 'tls.key': next.key, 'ca.crt': trusted }, plan);
    return undefined;
  }

  #observeServing({ data }: StoredSecret, authority: AuthorityMaterial): ObservedServing {
    const { reader } = this.#settings;
    const { certificate } = authority.issuer;
    return {
      pair: observePair({ certificate: data['tls.crt'] ?? '', key: data['tls.key'] ?? '' }, reader),
      isIssuedByIssuer: reader.isIssuedBy(data['tls.crt'] ?? '', certificate),
      issuerNotAfterMs: reader.read(certificate)?.notAfterMs ?? 0,
      repeatsPublished: data['ca.crt'] === publishedBy(authority),
    };
  }

  async #writeServing(
    stored: StoredSecret,
    data: Readonly<Record<string, string>>,
    plan: Exclude<ServingStep, { readonly kind: 'keep' }>,
  ): Promise<void> {
    const { secrets, servingSecret, onStep } = this.#settings;
    const result = await secrets.write(servingSecret, stored, data);
    if (result === 'written') onStep?.({ secret: servingSecret, of: 'certificate', ...plan });
  }

  /** It begins and ends within the lifetime of its authority. */
  async #issue(authority: Pair, nowMs: number): Promise<Pair> {
    const { issuer, reader, names, times } = this.#settings;
    const facts = reader.read(authority.certificate);
    const [begin, end] = [facts?.notBeforeMs ?? nowMs, facts?.notAfterMs ?? nowMs];
    const notBeforeMs = Math.max(begin, nowMs - times.backdatedMs);
    return await issuer.issue(authority, names, {
      notBeforeMs,
      notAfterMs: Math.min(end, notBeforeMs + times.backdatedMs + times.servingLifetimeMs),
    });
  }
}
