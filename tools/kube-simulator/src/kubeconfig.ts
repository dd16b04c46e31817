import { stringify } from 'yaml';

export interface KubeconfigParts {
  readonly server: string;
  readonly user: string;
  readonly token: string;
  /** PEM; absent: plain HTTP. */
  readonly authority: string | undefined;
}

/** The YAML that kubectl and client libraries read. */
export function formatKubeconfig({ server, user, token, authority }: KubeconfigParts): string {
  const trust = authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'kube-simulator', cluster: { server, ...trust } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'kube-simulator', context: { cluster: 'kube-simulator', user, namespace: 'default' } }],
    'current-context': 'kube-simulator',
  });
}
