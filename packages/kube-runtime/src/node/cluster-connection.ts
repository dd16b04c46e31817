/** The address of a Kubernetes API, and the credentials for it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { readField, readList, readText } from '../object/read-field.js';
import { toImpersonationHeaders } from './impersonation.js';
import { readPlainKubeConfig } from './plain-kube-config.js';
import { type Remembered, rememberFor } from './remember.js';

/** Where a Kubernetes API is, and the credentials for it. */
export interface ClusterConnection {
  /** As in `https://10.53.0.1:443`. */
  readonly server: string;
  /** CA, client certificate and the like, for `https.Agent`. */
  readonly tls: Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'>;
  /** Returns the current CA for the server's certificate, if it can be replaced while processes run. Then `tls` has no CA. */
  readonly ca?: () => Promise<RequestOptions['ca']>;
  /** Returns the current client certificate and its key, if they can be replaced while processes run. Then `tls` has neither. */
  readonly clientCertificate?: () => Promise<Pick<RequestOptions, 'cert' | 'key'>>;
  /** Returns the current value of the Authorization header, because tokens are replaced while processes run. Undefined for none. */
  readonly authorization: () => Promise<string | undefined>;
  /** Called after a server answered 401: the credentials are not used again, but asked for, once in a few seconds at most. */
  readonly forget?: () => void;
  /** Further headers of every request: the user that a kubeconfig impersonates. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The default namespace, from the kubeconfig's context or the ServiceAccount. */
  readonly namespace: string;
}

/** There is no connection to a cluster; `message` names what was looked for. */
export class NoClusterError extends Error {
  readonly code = 'ERR_NO_CLUSTER';
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
/** How long a token or CA is used before it is read again; ServiceAccount tokens are replaced well before they expire. */
const FILE_LIFETIME_MS = 30_000;

/** The connection of a pod, by its ServiceAccount. It needs no kubeconfig, and costs nothing to load. @throws NoClusterError outside a pod. */
export async function connectInCluster(
  environment: Readonly<Record<string, string | undefined>>,
  directory: string = SERVICE_ACCOUNT_DIRECTORY,
): Promise<ClusterConnection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host) throw new NoClusterError('KUBERNETES_SERVICE_HOST is not set: this is not a pod; give a kubeconfig');
  const ca = rereadFile(join(directory, 'ca.crt'));
  await ca().catch((error: unknown) => {
    throw new NoClusterError(`the pod has no ServiceAccount: ${String(error)}; set automountServiceAccountToken`);
  });
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').catch(() => 'default');
  const token = rereadFile(join(directory, 'token'));
  await token().catch((error: unknown) => {
    throw new NoClusterError(`the ServiceAccount's token cannot be read: ${String(error)}`);
  });
  const address = host.includes(':') ? `[${host}]` : host;
  return {
    server: `https://${address}:${port}`,
    tls: {},
    ca,
    authorization: async () => toBearer(await token()),
    namespace: namespace.trim() || 'default',
  };
}

function toBearer(token: Buffer): string {
  return `Bearer ${token.toString('utf8').trim()}`;
}

/** A file that may be replaced: it is read again after half a minute. If that fails, the former content stays in use. */
function rereadFile(path: string): () => Promise<Buffer> {
  let known: Buffer | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (known !== undefined && performance.now() - readAtMs < FILE_LIFETIME_MS) return known;
    try {
      known = await readFile(path);
      readAtMs = performance.now();
    } catch (error) {
      if (known === undefined) throw error;
    }
    return known;
  };
}

/** Which kubeconfig is read, and which context of it. */
export interface KubeConfigSource {
  /** A file; default: `KUBECONFIG`, then `~/.kube/config`, as kubectl does. */
  readonly path?: string;
  /** A context in it; default: the current one. */
  readonly context?: string;
}

/**
 * The connection that a kubeconfig describes, with everything that it may contain except a proxy: client certificates, tokens, exec plugins, OIDC.
 * Loads `@kubernetes/client-node`, which costs half a second and 90 MB, unless one file contains the certificates and tokens themselves.
 *
 * @throws NoClusterError if the file or the context is missing, or names a proxy.
 */
export async function connectByKubeConfig(source: KubeConfigSource): Promise<ClusterConnection> {
  const files = kubeConfigFiles(source.path);
  const where = `kubeconfig ${files.join(delimiter)}`;
  const plain = await readAlone(files, source.context);
  if (plain !== undefined) return plain;
  const config = await readKubeConfig(files, source.context, where);
  const server = serverOf(config, where);
  const { token, headers } = await readUser(files, config.getCurrentUser()?.name);
  const { get, forget } = await rememberOptions(config);
  const [options] = await Promise.all([get(), token?.()]).catch((error: unknown) => {
    throw new NoClusterError(`${where} does not lead to a cluster: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  return {
    server,
    tls: withoutUndefined({ pfx, passphrase, servername, rejectUnauthorized }),
    ...(ca !== undefined && { ca: async () => (await get()).ca }),
    ...((cert ?? key) !== undefined && { clientCertificate: async () => pick(await get()) }),
    authorization: async () => (token === undefined ? toAuthorization(await get()) : toBearer(await token())),
    forget,
    ...(Object.keys(headers).length > 0 && { headers }),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
  };
}

/** What a kubeconfig says about requests: files are read, and plugins asked, again. The library remembers a token without an expiry for ever. */
async function rememberOptions(config: KubeConfig): Promise<Remembered<RequestOptions>> {
  const { KubeConfig: Config } = await import('@kubernetes/client-node');
  let current = config;
  const { get, forget } = rememberFor(FILE_LIFETIME_MS, () => httpsOptions(current));
  return {
    get,
    forget: () => {
      const isForgotten = forget();
      if (isForgotten) {
        // A copy knows no tokens.
        current = new Config();
        current.loadFromOptions(config);
      }
      return isForgotten;
    },
  };
}

function pick({ cert, key }: RequestOptions): Pick<RequestOptions, 'cert' | 'key'> {
  return withoutUndefined({ cert, key });
}

/** Finds files like kubectl. `loadFromDefault` finds none if HOME is not set, and uses the last current context instead of the first. */
function kubeConfigFiles(path: string | undefined): readonly string[] {
  if (path !== undefined) return [path];
  const named = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const present = named.filter((file) => existsSync(file));
  if (present.length > 0) return present;
  if (named.length > 0)
    throw new NoClusterError(
      `KUBECONFIG names ${named.join(delimiter)}, which does not exist: correct it, or give --kubeconfig FILE`,
    );
  const file = join(homedir(), '.kube', 'config');
  if (existsSync(file)) return [file];
  throw new NoClusterError('this is not a pod, KUBECONFIG is not set, and there is no ~/.kube/config: give --kubeconfig FILE');
}

/** Reads a single file that needs no library. */
async function readAlone(files: readonly string[], context: string | undefined): Promise<ClusterConnection | undefined> {
  const [file] = files;
  if (file === undefined || files.length > 1) return undefined;
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const plain = text === undefined ? undefined : await readPlainKubeConfig(text, context);
  if (plain === undefined) return undefined;
  const { server, tls, token, namespace = 'default' } = plain;
  const header = token === undefined ? undefined : `Bearer ${token}`;
  return { server: server.replace(/\/+$/, ''), tls, authorization: async () => header, namespace };
}

async function readKubeConfig(files: readonly string[], context: string | undefined, where: string): Promise<KubeConfig> {
  const { KubeConfig: Config } = await loadLibrary(files, where);
  const config = new Config();
  for (const file of files) {
    const one = new Config();
    try {
      // An entry that is not whole concerns nobody who does not use it.
      one.loadFromFile(file, { onInvalidEntry: 'filter' });
    } catch (error) {
      throw new NoClusterError(`kubeconfig ${file} cannot be read: ${describeReadError(error)}`);
    }
    if (!config.getCurrentContext()) config.currentContext = one.currentContext;
    config.clusters = mergeByName(config.clusters, one.clusters);
    config.users = mergeByName(config.users, one.users);
    config.contexts = mergeByName(config.contexts, one.contexts);
  }
  if (context !== undefined) config.setCurrentContext(context);
  config.clusters = config.clusters.map(withoutTlsOfPlainHttp);
  return config;
}

/** Keeps the first of several entries with the same name, as kubectl does; `mergeConfig` of the library refuses them. */
function mergeByName<Entry extends { readonly name: string }>(entries: readonly Entry[], more: readonly Entry[]): Entry[] {
  const names = new Set(entries.map(({ name }) => name));
  return [...entries, ...more.filter(({ name }) => !names.has(name))];
}

/** A package on a bare host comes without the library. @throws NoClusterError */
async function loadLibrary(files: readonly string[], where: string): Promise<typeof import('@kubernetes/client-node')> {
  try {
    return await import('@kubernetes/client-node');
  } catch (error) {
    if (readText(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error;
    const missing = files.find((file) => !existsSync(file));
    throw new NoClusterError(
      missing === undefined
        ? `${where} needs the npm package @kubernetes/client-node, which is not installed: write a kubeconfig of one file with certificates and token in it (kubectl config view --flatten --minify), or run npm install --global @kubernetes/client-node`
        : `${where} cannot be read: there is no file ${missing}`,
      { cause: error },
    );
  }
}

/** kubectl accepts plain HTTP, which `kubectl proxy` serves. The library accepts it only where TLS is not verified: there is none to verify. */
function withoutTlsOfPlainHttp(cluster: Cluster): Cluster {
  return cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster;
}

/** Reads the fields of a user that `@kubernetes/client-node` leaves out. */
async function readUser(files: readonly string[], name: string | undefined): Promise<KubeConfigUser> {
  const { loadYaml } = await import('@kubernetes/client-node');
  for (const file of files) {
    const users = readList(loadYaml<unknown>(await readFile(file, 'utf8')), 'users');
    const user = users.find((one) => readText(one, 'name') === name);
    if (user === undefined) continue;
    const path = readText(user, 'user', 'tokenFile');
    const token = path ? { token: rereadFile(resolve(dirname(file), path)) } : {};
    return { ...token, headers: toImpersonationHeaders(readField(user, 'user')) };
  }
  return { headers: {} };
}

interface KubeConfigUser {
  /** Reads the user's `tokenFile`; absent if it has none. */
  readonly token?: () => Promise<Buffer>;
  readonly headers: Record<string, string | string[]>;
}

/** @throws NoClusterError if the context has no cluster, or one that cannot be reached directly. */
function serverOf(config: KubeConfig, where: string): string {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    const names = config.getContexts().map(({ name }) => name);
    const current = config.getCurrentContext() ?? '';
    throw new NoClusterError(
      `${where} has no cluster for its context '${current}'; there are contexts ${names.join(', ') || 'none'}`,
    );
  }
  if (!URL.canParse(cluster.server)) throw new NoClusterError(`${where}: server ${cluster.server} is not a URL; correct it`);
  // A request that goes past the proxy may reach another cluster. The URL may contain a password.
  if (cluster.proxyUrl)
    throw new NoClusterError(
      `${where}: the cluster ${cluster.name} has a proxy-url, and proxies are not supported: run kubectl proxy, which uses it, and give a kubeconfig with server: http://127.0.0.1:8001`,
    );
  return cluster.server.replace(/\/+$/, '');
}

/** A parser's message may quote the lines around a mistake, which contain secrets: only the error and its place are reported. */
function describeReadError(error: unknown): string {
  const { reason, mark, code, syscall } = error as {
    readonly reason?: string;
    readonly mark?: { readonly line: number };
    readonly code?: string;
    readonly syscall?: string;
  };
  if (reason !== undefined) return `${reason}${mark === undefined ? '' : ` in line ${mark.line + 1}`}`;
  return code !== undefined && syscall !== undefined ? `${code} (${syscall})` : 'it is not a kubeconfig';
}

async function httpsOptions(config: { applyToHTTPSOptions(options: RequestOptions): Promise<void> }): Promise<RequestOptions> {
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

function toAuthorization(options: RequestOptions): string | undefined {
  const { auth } = options;
  return headerOf(options, 'Authorization') ?? (auth ? `Basic ${Buffer.from(auth).toString('base64')}` : undefined);
}

function headerOf({ headers }: RequestOptions, name: string): string | undefined {
  return readText(headers, name);
}

function withoutUndefined<Fields extends object>(fields: Fields): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };
}
