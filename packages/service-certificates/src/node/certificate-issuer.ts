import { randomBytes, type webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateIssuer, Pair, Validity } from '../ports.js';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const SERVER_AND_CLIENT = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

/** Makes ECDSA P-256 keys and X.509 certificates. The library is loaded with the first one, because most processes never create any. */
export const certificateIssuer: CertificateIssuer = { createAuthority, issue };

async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return await import('@peculiar/x509');
}

async function createAuthority(name: string, validity: Validity): Promise<Pair> {
  const x509 = await loadX509();
  const { crypto } = globalThis;
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const usages = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // Two authorities with one name would differ only in their keys, and not every client tries both.
    name: [{ CN: [`${name} ${serialNumber().slice(0, 16)}`] }],
    ...toDates(validity),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usages, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return await toPair(certificate.toString('pem'), keys.privateKey);
}

async function issue(authority: Pair, names: readonly string[], validity: Validity): Promise<Pair> {
  const x509 = await loadX509();
  const { crypto } = globalThis;
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await crypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(authority.key), ALGORITHM, false, [
    'sign',
  ]);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const alternatives = names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    // At most 64 characters; the names that matter are in the extension.
    subject: [{ CN: [(names[0] ?? 'vmdhcp').slice(0, 64)] }],
    issuer: issuer.subjectName.toJSON(),
    ...toDates(validity),
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(SERVER_AND_CLIENT),
      new x509.SubjectAlternativeNameExtension(alternatives),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return await toPair(certificate.toString('pem'), keys.privateKey);
}

function toDates({ notBeforeMs, notAfterMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(notBeforeMs), notAfter: new Date(notAfterMs) };
}

async function toPair(certificate: string, privateKey: webcrypto.CryptoKey): Promise<Pair> {
  const { PemConverter } = await loadX509();
  const key = await globalThis.crypto.subtle.exportKey('pkcs8', privateKey);
  return { certificate: `${certificate.trim()}\n`, key: `${PemConverter.encode(key, 'PRIVATE KEY').trim()}\n` };
}

/** Positive, and unique with 126 random bits. */
function serialNumber(): string {
  const octets = randomBytes(16);
  octets[0] = ((octets[0] ?? 0) & 0x3f) | 0x40;
  return octets.toString('hex');
}
