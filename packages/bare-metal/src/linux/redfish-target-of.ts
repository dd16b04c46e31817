import type { RedfishTarget } from '@vmdhcp/redfish-client';
import type { HostTarget } from '../agent/ports.js';
import type { SecretData } from '../check/host-secret.js';

/**
 * A host as a Redfish service. Its Secret may have `username` and `password`, `tls.key` and `tls.crt`, `ca.crt`; and, named like
 * in a kubeconfig, `tls-server-name`, the name in its certificate, and `insecure-skip-tls-verify`, which accepts any certificate
 * if it is `true`. Half a pair counts as none.
 */
export function redfishTargetOf({ address, connection, secret = {} }: HostTarget): RedfishTarget {
  const [username, password] = [textOf(secret, 'username'), textOf(secret, 'password')];
  const [key, certificate] = [textOf(secret, 'tls.key'), textOf(secret, 'tls.crt')];
  const [authorities, serverName] = [textOf(secret, 'ca.crt'), textOf(secret, 'tls-server-name')?.trim()];
  return {
    host: address,
    port: connection.port,
    https: connection.https,
    verify: textOf(secret, 'insecure-skip-tls-verify')?.trim() !== 'true',
    ...(username !== undefined && password !== undefined && { credentials: { username, password } }),
    ...(key !== undefined && certificate !== undefined && { clientCertificate: { key, certificate } }),
    ...(authorities !== undefined && { authorities }),
    ...(serverName !== undefined && { serverName }),
  };
}

/** A value of a Secret as text; undefined if it is empty. */
function textOf(data: SecretData, key: string): string | undefined {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return undefined;
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.from(value);
  const text = bytes.toString('utf8');
  return text === '' ? undefined : text;
}
