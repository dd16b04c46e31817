import type { ClusterAccess } from './cluster-access.js';

/** A token of a ServiceAccount, good for an hour. */
export async function serviceAccountToken({ connection }: ClusterAccess, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const answer = await connection.request({ method: 'POST', path, body });
  return (answer as { readonly status: { readonly token: string } }).status.token;
}
