import { randomBytes } from 'node:crypto';
import { createClientCertificate, createServerCertificate, type ServerCertificate } from './http/certificates.js';

/** Common name of the certificate that requests to aggregated servers are sent with. */
export const frontProxyName = 'front-proxy-client';

/** What clients know the server by, and what the administrator proves its identity with. */
export interface Credentials {
  readonly adminToken: string;
  /** Absent over plain HTTP. */
  readonly certificate?: ServerCertificate;
  /** What aggregated servers know this server by. */
  readonly frontProxy: ServerCertificate;
}

/** The client certificate that aggregated API servers trust. */
export function createFrontProxy(): Promise<ServerCertificate> {
  return createClientCertificate(frontProxyName);
}

/** New credentials for a server at this address. */
export async function createCredentials(
  host: string,
  {
    tls = true,
    adminToken = randomBytes(24).toString('base64url'),
    frontProxy: given,
  }: { readonly tls?: boolean; readonly adminToken?: string; readonly frontProxy?: ServerCertificate },
): Promise<Credentials> {
  const frontProxy = given ?? (await createFrontProxy());
  if (!tls) return { adminToken, frontProxy };
  const certificate = await createServerCertificate([...new Set([host, '127.0.0.1', '::1', 'localhost'])]);
  return { adminToken, certificate, frontProxy };
}
