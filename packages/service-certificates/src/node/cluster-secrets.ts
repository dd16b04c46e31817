import { type KubernetesObject, keyOf, type ObjectClient, readField, type WriteResult } from '@vmdhcp/kube-runtime';
import type { SecretStore, StoredSecret } from '../ports.js';

type Client = Pick<ObjectClient<KubernetesObject>, 'get' | 'create' | 'patch'>;

export interface ClusterSecretsSettings {
  readonly namespace: string;
  /** The labels of new Secrets. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A Secret cannot be read or written until a person acts; retrying does not help. */
export class SecretRefusedError extends Error {
  readonly code = 'ERR_SECRET_REFUSED';
  readonly canRetry = false;
}

/** The Secrets of a namespace in an API server. It needs the rights to get and patch them by name, and to create Secrets. */
export function clusterSecrets(client: Client, { namespace, labels }: ClusterSecretsSettings): SecretStore {
  const keyFor = (name: string) => keyOf({ metadata: { namespace, name } });
  const outcome = (name: string, result: WriteResult<KubernetesObject>) => {
    if (result.ok) return 'written';
    if (['conflict', 'already-exists', 'not-found'].includes(result.reason)) return 'conflict';
    throw new SecretRefusedError(`Secret ${namespace}/${name} cannot be written: ${result.message}`);
  };
  return {
    read: async (name) => toStored(await client.get(keyFor(name))),
    write: async (name, before, data) => {
      const encoded = mapValues(data, encode);
      if (before.resourceVersion === undefined) {
        const type = 'tls.crt' in data ? 'kubernetes.io/tls' : 'Opaque';
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, labels }, type, data: encoded };
        return outcome(name, await client.create(secret as unknown as KubernetesObject));
      }
      const surplus = Object.fromEntries(Object.keys(before.data).map((key) => [key, null]));
      const target = { key: keyFor(name), resourceVersion: before.resourceVersion };
      return outcome(name, await client.patch(target, { data: { ...surplus, ...encoded } }));
    },
  };
}

function toStored(secret: KubernetesObject | undefined): StoredSecret {
  if (secret === undefined) return { resourceVersion: undefined, data: {} };
  const data = (readField(secret, 'data') ?? {}) as Readonly<Record<string, string>>;
  return { resourceVersion: secret.metadata.resourceVersion, data: mapValues(data, decode) };
}

function mapValues(data: Readonly<Record<string, string>>, map: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, map(text)]));
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
