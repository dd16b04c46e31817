import { randomBytes } from 'node:crypto';
import { createClientCertificate, createServerCertificate, type ServerCertificate } from './http/certificates.js';

/** Common name of the client certificate for requests to aggregated servers. */
export const frontProxyName = 'front-proxy-client';

/** The certificate of the server, and the credentials of the administrator. */
export interface Credentials {
  readonly adminToken: string;
  /** Absent over plain HTTP. */
  readonly certificate?: ServerCertificate;
  /** The certificate by which aggregated servers recognize this server. */
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
