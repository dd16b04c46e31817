import { CertificateKeeper, DEFAULT_TIMES, type KeptStep, type Pair, type SecretStore } from '@vmdhcp/service-certificates';
import { certificateIssuer, certificateReader } from '@vmdhcp/service-certificates/node';

export interface ServedCertificate {
  readonly pair: Pair;
  /** PEM: what the API server must trust; undefined if this process does not write it. */
  readonly trusted: string | undefined;
  readonly problem?: 'clock-behind';
}

/** Returns the certificate to serve now. @throws if there is none. */
export type CertificateSource = (nowMs: number) => Promise<ServedCertificate>;

export interface OwnCertificateSettings {
  readonly secrets: SecretStore;
  /** The name of the Service; the names of the Secrets begin with it. */
  readonly name: string;
  readonly namespace: string;
  readonly onStep: (step: KeptStep) => void;
}

/** From the product's own authority: Secrets `NAME-ca` and `NAME-tls`. */
export function ownCertificates({ secrets, name, namespace, onStep }: OwnCertificateSettings): CertificateSource {
  const keeper = new CertificateKeeper({
    secrets,
    reader: certificateReader,
    issuer: certificateIssuer,
    authoritySecret: `${name}-ca`,
    servingSecret: `${name}-tls`,
    authorityName: 'vmdhcp webhook',
    names: serviceNames(name, namespace),
    times: DEFAULT_TIMES,
    onStep,
  });
  return async (nowMs) => await keeper.keep(nowMs);
}

/** Names by which the API server may reach a Service. */
export function serviceNames(name: string, namespace: string): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
}

/** From a Secret that cert-manager, or a person, keeps. */
export function givenCertificates(secrets: SecretStore, secret: string): CertificateSource {
  return async () => {
    const { data } = await secrets.read(secret);
    const pair = { certificate: data['tls.crt'] ?? '', key: data['tls.key'] ?? '' };
    const fault = certificateReader.findFault(pair);
    if (fault !== undefined) throw new Error(`Secret ${secret}: ${fault}; check what writes it, for example cert-manager`);
    return { pair, trusted: undefined };
  };
}
