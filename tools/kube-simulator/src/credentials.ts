import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServerCertificate, type ServerCertificate } from './http/certificates.js';

/** What clients know the server by, and what they prove themselves with. */
export interface Credentials {
  readonly adminToken: string;
  /** Absent over plain HTTP. */
  readonly certificate?: ServerCertificate;
}

export interface CredentialOptions {
  readonly host: string;
  readonly tls: boolean;
  readonly adminToken: string | undefined;
  /** Where they are kept, so that kubeconfigs and tokens outlive the process as the data does; absent: nowhere. */
  readonly file: string | undefined;
}

interface Kept extends Credentials {
  readonly hosts: readonly string[];
}

/** Returns the credentials that were kept for this address, or new ones. A token that is given counts. */
export async function obtainCredentials({ host, tls, adminToken, file }: CredentialOptions): Promise<Credentials> {
  const hosts = [...new Set([host, '127.0.0.1', '::1', 'localhost'])];
  const kept = file === undefined ? undefined : readKept(file);
  const token = adminToken ?? kept?.adminToken ?? randomBytes(24).toString('base64url');
  if (!tls) return keep(file, { hosts, adminToken: token });
  const isFit = kept?.certificate !== undefined && hosts.every((name) => kept.hosts.includes(name));
  const certificate = isFit ? kept.certificate : await createServerCertificate(hosts);
  return keep(file, { hosts, adminToken: token, certificate });
}

function readKept(file: string): Kept | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : undefined;
}

function keep(file: string | undefined, credentials: Kept): Credentials {
  if (file !== undefined) writeFileSync(file, JSON.stringify(credentials), { mode: 0o600 });
  return credentials;
}
