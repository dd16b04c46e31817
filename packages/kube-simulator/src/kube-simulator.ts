import { randomBytes } from 'node:crypto';
import type { ApiContext } from './api/api-call.js';
import type { ApiClient } from './api/api-client.js';
import { InProcessClient } from './api/in-process-client.js';
import { assembleControlPlane, type ControlPlane } from './control-plane.js';
import { createServerCertificate, type ServerCertificate } from './http/certificates.js';
import { HttpServer } from './http/http-server.js';
import { type RequestChain, systemUser, type User } from './http/request-chain.js';
import { formatKubeconfig } from './kubeconfig.js';
import { builtInTypes } from './resources/built-in-types.js';
import { ResourceRegistry } from './resources/resource-registry.js';
import { serveCustomResources } from './resources/serve-custom-resources.js';
import { DataFile } from './store/data-file.js';
import { ObjectStore } from './store/object-store.js';

export interface KubeSimulatorOptions {
  /** 0, the default: any free port. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** False: plain HTTP. */
  readonly tls?: boolean;
  /** A file that keeps the data over a restart. Without one the data ends with the process, but not with `restart`. */
  readonly dataFile?: string;
  /** The administrator's bearer token; a random one by default. */
  readonly adminToken?: string;
  /** More bearer tokens, and who they stand for. */
  readonly tokens?: Readonly<Record<string, User>>;
}

const defaultHost = '127.0.0.1';

/** A Kubernetes API server in this process. */
export class KubeSimulator {
  readonly adminToken: string;
  readonly #options: KubeSimulatorOptions;
  readonly #certificate: ServerCertificate | undefined;
  #running: Running;

  private constructor(options: KubeSimulatorOptions, started: { certificate: ServerCertificate | undefined; running: Running }) {
    this.#options = options;
    this.#certificate = started.certificate;
    this.#running = started.running;
    this.adminToken = started.running.adminToken;
  }

  static async start(options: KubeSimulatorOptions): Promise<KubeSimulator> {
    const adminToken = options.adminToken ?? randomBytes(24).toString('base64url');
    const host = options.host ?? defaultHost;
    const certificate =
      options.tls === false ? undefined : await createServerCertificate([...new Set([host, '127.0.0.1', '::1', 'localhost'])]);
    const running = await run({ ...options, adminToken }, { certificate, port: options.port ?? 0, previous: undefined });
    return new KubeSimulator({ ...options, adminToken }, { certificate, running });
  }

  get url(): string {
    const scheme = this.#certificate === undefined ? 'http' : 'https';
    const host = this.#options.host ?? defaultHost;
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${this.#running.port}`;
  }

  /** PEM; undefined over plain HTTP. */
  get caCertificate(): string | undefined {
    return this.#certificate?.authority;
  }

  /** The API without HTTP, as the simulator's own controllers use it. */
  get client(): ApiClient {
    return this.#running.client;
  }

  get controlPlane(): ControlPlane {
    return this.#running.controlPlane;
  }

  get resourceVersion(): number {
    return this.#running.store.resourceVersion;
  }

  /** A kubeconfig for the administrator, or for the holder of another token. */
  kubeconfig(user: { readonly name: string; readonly token: string } = { name: 'admin', token: this.adminToken }): string {
    return formatKubeconfig({ server: this.url, user: user.name, token: user.token, authority: this.caCertificate });
  }

  /** Forgets all changes so far: watches and pages from before are answered with 410. */
  compact(): void {
    this.#running.store.compact();
  }

  /** Ends the watches that are open now. Returns how many. */
  dropWatches(matches: (watch: { readonly resource: string; readonly namespace: string }) => boolean = () => true): number {
    const streams = [...this.#running.server.resources.watches].filter((stream) => matches(stream.call.attributes));
    for (const stream of streams) stream.destroy();
    return streams.length;
  }

  /** Stops, and starts again at the same address with the same data. All connections break, watches cannot go on from before. */
  async restart(): Promise<void> {
    const { port, store } = this.#running;
    await this.#running.stop();
    const start = { certificate: this.#certificate, port, previous: this.#options.dataFile === undefined ? store : undefined };
    this.#running = await run({ ...this.#options, adminToken: this.adminToken }, start);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }
}

/** Starts a Kubernetes API server in this process. */
export function startKubeSimulator(options: KubeSimulatorOptions = {}): Promise<KubeSimulator> {
  return KubeSimulator.start(options);
}

interface Running {
  readonly adminToken: string;
  readonly port: number;
  readonly store: ObjectStore;
  readonly client: ApiClient;
  readonly controlPlane: ControlPlane;
  readonly server: HttpServer;
  stop(): Promise<void>;
}

interface Start {
  readonly certificate: ServerCertificate | undefined;
  readonly port: number;
  /** Holds the data where there is no file. */
  readonly previous: ObjectStore | undefined;
}

async function run(options: KubeSimulatorOptions & { readonly adminToken: string }, start: Start): Promise<Running> {
  const file = options.dataFile === undefined ? undefined : new DataFile(options.dataFile);
  const store = restoredStore(file, start.previous);
  const registry = new ResourceRegistry(builtInTypes);
  const chain: { current?: RequestChain } = {};
  const context: ApiContext = {
    store,
    registry,
    admission: {
      mutate: (request) => assembled(chain).admission.mutate(request),
      validate: (request) => assembled(chain).admission.validate(request),
    },
    nowMs: () => Date.now(),
  };
  const stopServing = serveCustomResources(store, registry);
  const client = new InProcessClient(context, systemUser);
  const controlPlane = assembleControlPlane({ client, registry, adminToken: options.adminToken, tokens: options.tokens ?? {} });
  chain.current = controlPlane.chain;
  await controlPlane.start();
  const { certificate } = start;
  const tls = certificate === undefined ? {} : { tls: { key: certificate.key, certificate: certificate.certificate } };
  const server = new HttpServer({ context, chain: controlPlane.chain, ...tls });
  const port = await server.listen(start.port, options.host ?? defaultHost);
  const stop = async (): Promise<void> => {
    await server.close();
    await controlPlane.stop();
    stopServing();
    file?.close();
  };
  return { adminToken: options.adminToken, port, store, client, controlPlane, server, stop };
}

function assembled(chain: { readonly current?: RequestChain }): RequestChain {
  if (chain.current === undefined) throw new Error('the control plane is not assembled yet');
  return chain.current;
}

function restoredStore(file: DataFile | undefined, previous: ObjectStore | undefined): ObjectStore {
  const store = new ObjectStore(file);
  if (file !== undefined) store.restore(file.entries, file.resourceVersion);
  if (previous !== undefined) store.restore(previous.dump(), previous.resourceVersion);
  return store;
}
