import type { CallWebhook } from './admission/call-webhook.js';
import type { Endpoint } from './admission/webhook-address.js';
import type { ApiContext } from './api/api-call.js';
import type { ApiClient } from './api/api-client.js';
import { InProcessClient } from './api/in-process-client.js';
import { type CredentialAnswers, reviewTypes, serviceAccountWithTokens } from './auth/review-types.js';
import { assembleControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.js';
import { isConflict, isMissing } from './controllers/api-outcome.js';
import type { BackOff } from './controllers/pod-run.js';
import { idlePod, type RunPod } from './controllers/run-pod.js';
import { type NodeDescription, SimulatedNodes } from './controllers/simulated-nodes.js';
import { type Credentials, createCredentials } from './credentials.js';
import type { ExecInPod } from './exec/exec-in-pod.js';
import { disturbStream, Faults, type RequestSelector, selects, type WatchFault } from './faults.js';
import type { ServerCertificate } from './http/certificates.js';
import { HttpServer } from './http/http-server.js';
import { type InMemoryAnswer, type InMemoryRequest, inMemoryExchange } from './http/in-memory-exchange.js';
import { formatKubeconfig } from './kubeconfig.js';
import { Audit } from './request/audit.js';
import { systemUser } from './request/request-chain.js';
import { realTime, type WatchTimer } from './request/watch-timer.js';
import type { User } from './request-user.js';
import { builtInTypes } from './resources/built-in-types.js';
import { serviceAccount } from './resources/core/config-map.js';
import { ResourceRegistry } from './resources/resource-registry.js';
import type { ResourceType } from './resources/resource-type.js';
import { serveCustomResources } from './resources/serve-custom-resources.js';
import { ObjectStore } from './store/object-store.js';

export interface KubeSimulatorOptions {
  /** 0, the default: any free port. `none`: no port is opened, and requests come through `exchange`. */
  readonly port?: number | 'none';
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** False: plain HTTP. */
  readonly tls?: boolean;
  /** The administrator's bearer token; random by default. */
  readonly adminToken?: string;
  /** The certificate by which aggregated servers recognize it; a new one by default. */
  readonly frontProxy?: ServerCertificate;
  /** More bearer tokens, and who they stand for. */
  readonly tokens?: Readonly<Record<string, User>>;
  /** Nodes that run Pods. Without any there is no scheduler either: Pods stay as they are created, or as they are written by hand. */
  readonly nodes?: readonly NodeDescription[];
  /** Starts a process for a Pod; by default nothing is started, and Pods are ready at once. */
  readonly runPod?: RunPod;
  /** Runs the commands that clients execute in Pods; by default none can be. */
  readonly execInPod?: ExecInPod;
  /** How long a Pod that ended waits before it is started again; 10 s, then twice as long each time, by default. */
  readonly podBackOff?: BackOff;
  /** A Node counts as lost after this time without its kubelet; 40 s by default, as in a real cluster. */
  readonly nodeMonitorGraceMs?: number;
  /** The Pods of a deleted Node are deleted after this time; 40 s by default. */
  readonly orphanedPodsMs?: number;
  /**
   * True to check, as OpenShift does, the rights of users who make objects block the deletion of their owners (OwnerReferencesPermissionEnforcement).
   * False by default, as in a plain cluster.
   */
  readonly ownerReferencePermissions?: boolean;
  /** Where the Services of webhooks and APIServices are really served, by `<namespace>/<name>`: no network is behind their names. */
  readonly services?: Readonly<Record<string, Endpoint>>;
  /** Asks webhooks; over HTTPS by default. */
  readonly callWebhook?: CallWebhook;
  /** When watches end and send bookmarks; real time by default. */
  readonly watchTimer?: WatchTimer;
  /** Called when a controller of the simulator failed and will try again; a warning of the process by default. */
  readonly onControllerError?: (error: unknown) => void;
}

const defaultHost = '127.0.0.1';
const defaultGraceMs = 40_000;
const dayInSeconds = 86_400;

/** A Kubernetes API server in this process. */
export class KubeSimulator {
  readonly adminToken: string;
  /** The faults that disturb requests. */
  readonly faults = new Faults();
  /** The requests over HTTP so far, and which of them RBAC refused. */
  readonly audit = new Audit();
  /** Nodes that come, go, lose power or contact. */
  readonly nodes: SimulatedNodes;
  readonly #options: KubeSimulatorOptions;
  readonly #certificate: ServerCertificate | undefined;
  readonly #frontProxy: ServerCertificate;
  readonly #services: Record<string, Endpoint | undefined>;
  #current: Running | undefined;

  private constructor(options: KubeSimulatorOptions, { adminToken, certificate, frontProxy }: Credentials) {
    this.#options = options;
    this.#certificate = certificate;
    this.#frontProxy = frontProxy;
    this.#services = { ...options.services };
    this.adminToken = adminToken;
    const { runPod = idlePod, podBackOff, nodeMonitorGraceMs = defaultGraceMs } = options;
    const backOff = podBackOff === undefined ? {} : { backOff: podBackOff };
    this.nodes = new SimulatedNodes({ onError: this.#onError, runPod, monitorGraceMs: nodeMonitorGraceMs, ...backOff });
  }

  static async start(options: KubeSimulatorOptions): Promise<KubeSimulator> {
    const credentials = await createCredentials(options.host ?? defaultHost, options);
    const simulator = new KubeSimulator(options, credentials);
    await simulator.#run(options.port ?? 0, undefined);
    for (const node of options.nodes ?? []) await simulator.nodes.add(node);
    return simulator;
  }

  async #run(port: number | 'none', previous: ObjectStore | undefined): Promise<void> {
    const { tokens = {}, orphanedPodsMs = defaultGraceMs } = this.#options;
    this.#current = await run(this.#options, {
      certificate: this.#certificate,
      port,
      previous,
      audit: this.audit,
      decisions: {
        adminToken: this.adminToken,
        tokens,
        authority: this.caCertificate,
        frontProxy: this.#frontProxy,
        faults: this.faults,
        nodes: this.nodes,
        services: () => this.#services,
        callWebhook: this.#options.callWebhook,
        orphanedPodsMs,
        ownersAudit: this.#options.ownerReferencePermissions === true ? this.audit : undefined,
        onError: this.#onError,
      },
    });
  }

  /** Conflicts and deleted objects are normal; the client tries again. */
  readonly #onError = (error: unknown): void => {
    if (isConflict(error) || isMissing(error)) return;
    const { onControllerError = (cause: unknown) => process.emitWarning(cause instanceof Error ? cause : String(cause)) } =
      this.#options;
    onControllerError(error);
  };

  get #running(): Running {
    if (this.#current === undefined) throw new Error('the simulator is being restarted; wait for restart() to resolve');
    return this.#current;
  }

  /**
   * Sets the address of a Service: webhooks and APIServices that name it are called there.
   *
   * @param endpoint - undefined if the Service has no endpoints.
   */
  serveService(namespace: string, name: string, endpoint: Endpoint | undefined): void {
    this.#services[`${namespace}/${name}`] = endpoint;
    this.controlPlane.aggregator.serviceChanged(namespace, name);
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

  /**
   * Sends a request without a connection, authenticated and authorized like any other. The answer arrives asynchronously.
   *
   * @returns a function that aborts the request.
   */
  exchange(request: InMemoryRequest, answer: InMemoryAnswer): () => void {
    const exchange = inMemoryExchange(request, answer);
    void this.#running.server.serve(exchange.request, exchange.response);
    return exchange.leave;
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

  /** A token of an existing ServiceAccount, valid for a day. */
  serviceAccountToken(namespace: string, name: string): string {
    const object = { apiVersion: '', kind: '', metadata: {}, spec: { expirationSeconds: dayInSeconds } };
    const { status } = this.controlPlane.answers.issueToken({ user: systemUser, namespace, name, object });
    return (status as { readonly token: string }).token;
  }

  /** Forgets all changes so far: watches and pages from before are answered with 410. */
  compact(): void {
    this.#running.store.compact();
  }

  /** Breaks, ends or expires the selected open watches. Returns how many. */
  disturbWatches(how: WatchFault, requests: RequestSelector = {}): number {
    const meant = [...this.#running.server.resources.watches].filter((stream) => selects(requests, stream.call.attributes));
    for (const stream of meant) disturbStream[how](stream);
    return meant.length;
  }

  /**
   * Restarts at the same address with the same data. All connections break, watches cannot resume, and the first requests of clients that are not
   * administrators get 403, 429, 500, 503 and 504, as for some seconds after a real start.
   */
  async restart(): Promise<void> {
    const { port, store } = this.#running;
    await this.#running.stop();
    this.faults.injectStart();
    await this.#run(port, store);
  }

  /** Stops the server, and every process that stands for a Pod. */
  async stop(): Promise<void> {
    await this.#running.stop();
    await this.nodes.stop();
  }
}

/** Starts a Kubernetes API server in this process. */
export function startKubeSimulator(options: KubeSimulatorOptions = {}): Promise<KubeSimulator> {
  return KubeSimulator.start(options);
}

interface Running {
  readonly port: number | 'none';
  readonly store: ObjectStore;
  readonly client: ApiClient;
  readonly controlPlane: ControlPlane;
  readonly server: HttpServer;
  stop(): Promise<void>;
}

interface Start {
  readonly certificate: ServerCertificate | undefined;
  readonly port: number | 'none';
  /** The data of the server that was stopped. */
  readonly previous: ObjectStore | undefined;
  readonly audit: Audit;
  readonly decisions: Omit<ControlPlaneOptions, 'client' | 'registry'>;
}

async function run(options: KubeSimulatorOptions, start: Start): Promise<Running> {
  const store = new ObjectStore();
  if (start.previous !== undefined) store.restore(start.previous);
  const assembly: { controlPlane?: ControlPlane } = {};
  const registry = new ResourceRegistry(typesWithAnswers(() => assembled(assembly).answers));
  const context: ApiContext = {
    store,
    registry,
    admission: {
      mutate: (request) => assembled(assembly).chain.admission.mutate(request),
      validate: (request) => assembled(assembly).chain.admission.validate(request),
    },
    nowMs: () => Date.now(),
    watchTimer: options.watchTimer ?? realTime,
  };
  const stopServing = serveCustomResources(store, registry);
  const client = new InProcessClient(context, systemUser);
  const controlPlane = assembleControlPlane({ ...start.decisions, client, registry });
  assembly.controlPlane = controlPlane;
  await controlPlane.start();
  // No client can watch the writes of the start itself: as in any cluster that has run for a while, small resourceVersions are too old.
  store.compact();
  const { certificate } = start;
  const tls = certificate === undefined ? {} : { tls: { key: certificate.key, certificate: certificate.certificate } };
  const server = new HttpServer({
    context,
    chain: controlPlane.chain,
    aggregator: controlPlane.aggregator,
    audit: start.audit,
    execInPod: options.execInPod ?? noExec,
    ...tls,
  });
  const port = start.port === 'none' ? start.port : await server.listen(start.port, options.host ?? defaultHost);
  const stop = async (): Promise<void> => {
    if (port === 'none') for (const stream of server.resources.watches) stream.destroy();
    else await server.close();
    await controlPlane.stop();
    stopServing();
  };
  return { port, store, client, controlPlane, server, stop };
}

const noExec: ExecInPod = () => {
  throw new Error('the simulator was started without execInPod');
};

function assembled({ controlPlane }: { readonly controlPlane?: ControlPlane }): ControlPlane {
  if (controlPlane === undefined) throw new Error('the control plane is not assembled yet');
  return controlPlane;
}

/** The built-in kinds; `answers` answers the reviews. */
function typesWithAnswers(answers: () => CredentialAnswers): readonly ResourceType[] {
  const stored = builtInTypes.map((type) => (type === serviceAccount ? serviceAccountWithTokens(answers) : type));
  return [...stored, ...reviewTypes(answers)];
}
