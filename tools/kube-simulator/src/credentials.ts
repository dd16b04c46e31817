import { randomBytes } from 'node:crypto';
import { createServerCertificate, type ServerCertificate } from './http/certificates.js';

/** What clients know the server by, and what the administrator proves its identity with. */
export interface Credentials {
  readonly adminToken: string;
  /** Absent over plain HTTP. */
  readonly certificate?: ServerCertificate;
}

/** New credentials for a server at this address. */
export async function createCredentials(
  host: string,
  { tls = true, adminToken = randomBytes(24).toString('base64url') }: { readonly tls?: boolean; readonly adminToken?: string },
): Promise<Credentials> {
  if (!tls) return { adminToken };
  return { adminToken, certificate: await createServerCertificate([...new Set([host, '127.0.0.1', '::1', 'localhost'])]) };
}
