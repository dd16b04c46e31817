/**
 * A certificate authority in Kubernetes Secrets. Any replica can create, renew and rotate it, without a restart and without a failed request.
 *
 * @packageDocumentation
 */
export {
  CertificateKeeper,
  type CertificateKeeperSettings,
  CertificatesContestedError,
  type KeptCertificate,
  type KeptStep,
} from './certificate-keeper.js';
export type { CertificateFacts, MaterialFault, ObservedPair } from './plan/certificate-facts.js';
export { type CertificateTimes, DEFAULT_TIMES, renewalTimeMs } from './plan/certificate-times.js';
export { type AuthorityStep, type NewAuthorityReason, type ObservedAuthority, planAuthority } from './plan/plan-authority.js';
export { type IssuanceReason, type ObservedServing, planServing, type ServingStep } from './plan/plan-serving.js';
export type { CertificateIssuer, CertificateReader, Pair, SecretStore, StoredSecret, Validity } from './ports.js';
