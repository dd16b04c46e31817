/** The certificate of a client in a directory, as kubelet mounts a Secret: a symbolic link replaces all files together. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { TlsMaterial } from './tls-material.js';

const FILES = { certificate: 'tls.crt', key: 'tls.key', authorities: 'ca.crt' } as const;
/** kubelet's link to the current files. */
const CURRENT = '..data';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export type ReadMaterial =
  | { readonly ok: true; readonly material: TlsMaterial }
  /** Why there is no certificate, with the file. */
  | { readonly ok: false; readonly problem: string };

/** The current content of the directory. Files that are being replaced are a problem until the next check. */
export async function readCertificateDirectory(directory: string): Promise<ReadMaterial> {
  // All three files of one version, whatever is replaced meanwhile.
  const where = await realpath(join(directory, CURRENT)).catch(() => directory);
  try {
    const [certificate, key, authorities] = await Promise.all([
      readFile(join(where, FILES.certificate), 'utf8'),
      readFile(join(where, FILES.key), 'utf8'),
      readFile(join(where, FILES.authorities), 'utf8'),
    ]);
    const material = { certificate, key, authorities };
    const problem = findFault(material);
    return problem === undefined ? { ok: true, material } : { ok: false, problem: `${directory}: ${problem}` };
  } catch (error) {
    const { message } = error as Error;
    return {
      ok: false,
      problem: `${message}; mount the Secret that the managers keep, with tls.crt, tls.key and ca.crt, at ${directory}`,
    };
  }
}

/**
 * Why the manager will not accept the certificate, as far as this side can know; undefined if nothing is wrong. @param nowMs -
 * milliseconds since 1970.
 */
export function findCertificateProblem({ certificate: text, authorities }: TlsMaterial, nowMs: number): string | undefined {
  const certificate = new X509Certificate(text);
  if (Date.parse(certificate.validTo) < nowMs)
    return `tls.crt has expired (${certificate.validTo}): look at what renews the Secret, and at the clock of this host`;
  if (Date.parse(certificate.validFrom) > nowMs)
    return `tls.crt is not valid yet (${certificate.validFrom}): look at the clock of this host`;
  const isOwn = (authorities.match(CERTIFICATE) ?? []).some((one) => isIssuedBy(certificate, new X509Certificate(one)));
  return isOwn ? undefined : 'tls.crt is not from an authority in ca.crt: all three files must be from one Secret';
}

function findFault({ certificate, key, authorities }: TlsMaterial): string | undefined {
  try {
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return 'tls.key is not the key of tls.crt';
  } catch (error) {
    return `tls.crt or tls.key cannot be read: ${(error as Error).message}`;
  }
  try {
    const all = authorities.match(CERTIFICATE) ?? [];
    for (const one of all) new X509Certificate(one);
    return all.length === 0 ? 'ca.crt has no certificate' : undefined;
  } catch (error) {
    return `ca.crt cannot be read: ${(error as Error).message}`;
  }
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
