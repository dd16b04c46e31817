import 'reflect-metadata';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type GeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface ServerCertificate {
  /** PEM: the authority that clients trust. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const lifetimeMs = 10 * 365 * 24 * 3600 * 1000;

/** A certificate for the hosts, signed by an authority that is made for it and forgotten. */
export function createServerCertificate(hosts: readonly string[]): Promise<ServerCertificate> {
  return issue({
    authority: 'kube-simulator',
    subject: 'kube-apiserver',
    extensions: [new SubjectAlternativeNameExtension(hosts.map(toGeneralName))],
  });
}

/** A client certificate, signed by an authority that is made for it and forgotten. */
export function createClientCertificate(commonName: string): Promise<ServerCertificate> {
  return issue({
    authority: `${commonName}-ca`,
    subject: commonName,
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
}

interface Subject {
  /** Common names. */
  readonly authority: string;
  readonly subject: string;
  readonly extensions: Extension[];
}

async function issue({ authority: issuer, subject, extensions }: Subject): Promise<ServerCertificate> {
  const authorityKeys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const notBefore = new Date(Date.now() - 3600 * 1000);
  const notAfter = new Date(Date.now() + lifetimeMs);
  const authority = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${issuer}`,
    notBefore,
    notAfter,
    keys: authorityKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
    ],
  });
  const certificate = await X509CertificateGenerator.create({
    serialNumber: '02',
    subject: `CN=${subject}`,
    issuer: authority.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions,
  });
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    authority: authority.toString('pem'),
    certificate: certificate.toString('pem'),
    key: PemConverter.encode(key, 'PRIVATE KEY'),
  };
}

function toGeneralName(host: string): { type: GeneralName['type']; value: string } {
  return { type: isIP(host) === 0 ? 'dns' : 'ip', value: host };
}
