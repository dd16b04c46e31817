/** Reads the certificate of the page from a directory in which kubelet has mounted a Secret: its files are replaced together, by a symbolic link. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageCertificate } from './page-server.js';

/** kubelet's link to the current files. */
const CURRENT = '..data';

/**
 * Both files of one version, even if they are replaced meanwhile.
 * @param nowMs - milliseconds since 1970.
 * @throws Error with the problem and the remedy: unreadable files, the key of another certificate, a certificate outside its validity.
 */
export async function readPageCertificate(directory: string, nowMs: number): Promise<PageCertificate> {
  const where = await realpath(join(directory, CURRENT)).catch(() => directory);
  const [certificate, key] = await Promise.all([
    readFile(join(where, 'tls.crt'), 'utf8'),
    readFile(join(where, 'tls.key'), 'utf8'),
  ]);
  const problem = findProblem({ certificate, key }, nowMs);
  if (problem !== undefined) throw new Error(`${directory}: ${problem}`);
  return { certificate, key };
}

/** When it ends, in milliseconds since 1970. */
export function endOf({ certificate }: PageCertificate): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

function findProblem({ certificate, key }: PageCertificate, nowMs: number): string | undefined {
  const read = attempt(() => new X509Certificate(certificate));
  if (read === undefined)
    return 'tls.crt is not a certificate in PEM; write the certificate, then those of its authorities, into it';
  const secret = attempt(() => createPrivateKey(key));
  if (secret === undefined) return 'tls.key is not a private key in PEM without a password; write the key of tls.crt into it';
  if (!read.checkPrivateKey(secret)) return 'tls.key is not the key of tls.crt; replace both files by those of one Secret';
  const clock = 'look at what renews it, and at the clock of this host';
  if (read.validToDate.getTime() <= nowMs) return `tls.crt has expired (${read.validToDate.toISOString()}); ${clock}`;
  if (read.validFromDate.getTime() > nowMs) return `tls.crt is not valid yet (${read.validFromDate.toISOString()}); ${clock}`;
  return undefined;
}

function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
