/**
 * Kubeconfigs of the common kind: a server, a CA, and a token or a client certificate. They are read without `@kubernetes/client-node`, which takes
 * most of the time of a command that lasts a second, and memory for as long as a controller runs. Anything else in a kubeconfig (exec plugins, OIDC,
 * proxies, impersonation, a value of another type) is for that library.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { parse } from 'yaml';

interface KubeConfigPlace {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

const CLUSTER_FIELDS: ReadonlyMap<string, FieldType> = new Map([
  ['server', 'string'],
  ['certificate-authority', 'string'],
  ['certificate-authority-data', 'string'],
  ['insecure-skip-tls-verify', 'boolean'],
  ['tls-server-name', 'string'],
  ['extensions', 'object'],
]);
const USER_FIELDS: ReadonlyMap<string, FieldType> = new Map([
  ['token', 'string'],
  ['client-certificate', 'string'],
  ['client-certificate-data', 'string'],
  ['client-key', 'string'],
  ['client-key-data', 'string'],
]);

type FieldType = 'string' | 'boolean' | 'object';

/** Undefined: the kubeconfig is missing, or has more than this reads. Never throws. */
export function readSimpleKubeConfig(
  { kubeconfig, context }: KubeConfigPlace,
  environment: Readonly<Record<string, string | undefined>>,
): ClusterConnection | undefined {
  const path = kubeconfig ?? onlyFile(environment);
  if (path === undefined || !existsSync(path)) return undefined;
  try {
    return toConnection(parse(readFileSync(path, 'utf8')), { directory: dirname(path), context });
  } catch {
    return undefined;
  }
}

/** Several files are merged by rules of their own. */
function onlyFile({ KUBECONFIG = '' }: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = KUBECONFIG.split(delimiter).filter((file) => file !== '');
  return named.length > 1 ? undefined : (named[0] ?? join(homedir(), '.kube', 'config'));
}

interface Place {
  readonly directory: string;
  readonly context: string | undefined;
}

function toConnection(config: unknown, { directory, context }: Place): ClusterConnection | undefined {
  const current = named(config, 'context', context ?? readText(config, 'current-context'));
  const cluster = named(config, 'cluster', readText(current, 'cluster'));
  const user = named(config, 'user', readText(current, 'user'));
  const server = readText(cluster, 'server');
  if (server === undefined || !URL.canParse(server) || !hasOnly(cluster, CLUSTER_FIELDS) || !hasOnly(user, USER_FIELDS))
    return undefined;
  const file = (value: unknown, name: string) => readFileOrData(value, name, directory);
  const token = readText(user, 'token');
  const isUnchecked = readField(cluster, 'insecure-skip-tls-verify') === true;
  const parts = {
    ca: file(cluster, 'certificate-authority'),
    cert: file(user, 'client-certificate'),
    key: file(user, 'client-key'),
    servername: readText(cluster, 'tls-server-name'),
    rejectUnauthorized: isUnchecked ? false : undefined,
  };
  return {
    server: server.replace(/\/+$/, ''),
    tls: Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)),
    authorization: async () => (token ? `Bearer ${token}` : undefined),
    namespace: readText(current, 'namespace') ?? 'default',
  };
}

/** The entry of a list, which has the name of its field and an s. */
function named(config: unknown, field: string, name: string | undefined): unknown {
  const found = readList(config, `${field}s`).filter((one) => name !== undefined && readText(one, 'name') === name);
  return found.length === 1 ? readField(found[0], field) : undefined;
}

function hasOnly(value: unknown, fields: ReadonlyMap<string, FieldType>): boolean {
  return (
    typeof value === 'object' && value !== null && Object.entries(value).every(([name, one]) => fields.get(name) === typeof one)
  );
}

function readFileOrData(value: unknown, name: string, directory: string): Buffer | undefined {
  const data = readText(value, `${name}-data`);
  if (data) return Buffer.from(data, 'base64');
  const path = readText(value, name);
  return path ? readFileSync(resolve(directory, path)) : undefined;
}
