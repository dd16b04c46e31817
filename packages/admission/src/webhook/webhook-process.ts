/** Runs the webhook as a process: caches, rules, an HTTPS server, and the upkeep of its certificate and its registration. */
import type { Server } from 'node:http';
import {
  type ApiResource,
  type KubernetesObject,
  type NamedResource,
  type OwnerReference,
  SharedCaches,
  type WatchedObjects,
  watchObjects,
} from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { type ClusterNetworks, cachedParts, type VirtualMachineRules } from '@vmdhcp/reconciler';
import { certificateReader, clusterSecrets } from '@vmdhcp/service-certificates/node';
import { CommandError, ExitCode, type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { AdmissionServer } from './admission-server.js';
import { type CertificateSource, givenCertificates, ownCertificates, type ServedCertificate } from './certificate-source.js';
import { type ClusterFactsSource, createClusterFactsSource } from './cluster-facts-source.js';
import { type ClusterReviewerSettings, createClusterReviewer } from './cluster-reviewer.js';
import { registerWebhook } from './register-webhook.js';
import type { WebhookMetrics } from './webhook-metrics.js';
import {
  OwnerResource,
  RegistrationResource,
  serviceAccountsOf,
  toRegistrationOwner,
  WEBHOOK_LABELS,
  type WebhookFeatures,
} from './webhook-registration.js';

export interface WebhookProcessSettings extends WebhookFeatures {
  readonly listen: ListenAddress;
  readonly http: ListenAddress | 'off';
  /** The name of the Service and of both configurations. */
  readonly name: string;
  /** The namespace of the Service and the Secrets. */
  readonly namespace: string;
  /** Undefined: certificates come from the product's own authority. */
  readonly certificateSecret: string | undefined;
  /** `namespace/name` of a Certificate of cert-manager, which writes what the API server trusts. */
  readonly injectFrom: string | undefined;
  /** False: the registration of a chart is left alone. */
  readonly register: boolean;
  readonly virtualMachines: VirtualMachineRules;
  readonly clusterNetworks: ClusterNetworks;
}

export interface WebhookProcessPorts {
  readonly connection: ApiConnection;
  readonly logger: Logger;
  readonly metrics: WebhookMetrics;
}

const SECRETS: ApiResource = { group: '', version: 'v1', plural: 'secrets', namespaced: true };
/** How long a deleted object may be missing if changes are not watched. */
const UPKEEP_MS = 10_000;
/** The interval if changes are watched: for changes by time alone. */
const WATCHED_UPKEEP_MS = 600_000;
/** Changes within this time are handled together; objects that are written all the time, once in this time. */
const GATHER_MS = 1_000;
/** Until the first certificate exists, and the caches are complete. */
const FIRST_UPKEEP_MS = 500;
/** Endpoints are removed from Services a moment after a pod is told to end: until then requests still arrive. */
const LAST_REQUESTS_MS = 2_000;

/** The webhook as a process: it keeps its certificate and its registration, and reviews objects with caches of the cluster. */
export class WebhookProcess {
  readonly #settings: WebhookProcessSettings;
  readonly #ports: WebhookProcessPorts;
  readonly #source: ClusterFactsSource;
  readonly #caches: SharedCaches;
  readonly #certificates: CertificateSource;
  #http: Server | undefined;
  #server: AdmissionServer | undefined;
  #served: ServedCertificate | undefined;
  /** Problems of the upkeep of the certificate or the registration. */
  #problem: string | undefined;
  /** False if the registration was refused, or could not be read. */
  #isRegistered = true;
  /** True once the registration was written, or refused: a webhook that cannot be registered is ready all the same. */
  #hasTriedToRegister = false;
  readonly #watched: WatchedObjects;
  /** Undefined if a check is in progress, or none was begun. */
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #upkeep: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(settings: WebhookProcessSettings, ports: WebhookProcessPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#caches = new SharedCaches({
      open: (resource) => this.#client(resource),
      clock: systemClock,
      backOff: { firstMs: 100, mostMs: 30_000, random: Math.random },
      trim: cachedParts,
    });
    this.#source = createClusterFactsSource(this.#caches, settings.clusterNetworks, (kind, error) =>
      ports.logger.warn({ kind, err: errorForLog(error) }, 'list or watch failed; retrying'),
    );
    this.#certificates = this.#createCertificates();
    this.#watched = watchObjects(this.#kept(), {
      open: (resource) => this.#client(resource),
      clock: systemClock,
      random: Math.random,
      onChange: () => this.#note(),
    });
  }

  /** @throws CommandError if the status server cannot listen on its address. */
  async start(): Promise<void> {
    const { http } = this.#settings;
    if (http !== 'off') {
      this.#http = await startStatusServer(http, { unready: () => this.#unready(), registry: this.#ports.metrics.registry });
    }
    this.#source.start();
    this.#watched.start();
    this.#upkeep = this.#look();
    await this.#upkeep.catch(async (error: unknown) => {
      // Open servers and connections would keep a process running that does nothing.
      await this.stop();
      throw error;
    });
  }

  /** Keeps serving until no requests arrive, completes those in progress, and closes everything. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    clearTimeout(this.#timer);
    this.#watched.stop();
    const server = this.#server;
    await server?.drain(LAST_REQUESTS_MS);
    await server?.stop();
    this.#source.stop();
    // Pending operations of the upkeep fail now, and a start in progress ends.
    this.#ports.connection.close();
    await this.#upkeep.catch(() => undefined);
    if (this.#server !== server) await this.#server?.stop();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#ports.logger.info('stopped');
  }

  #unready(): string[] {
    if (this.#isStopping) return ['stopping'];
    const missing = this.#source.synced() ? [] : [...this.#caches.unready()];
    if (this.#server === undefined) return [...missing, this.#whyNotListening()];
    // The API server would not ask about what is applied next.
    return this.#hasTriedToRegister ? missing : [...missing, 'registering'];
  }

  #whyNotListening(): string {
    if (this.#problem !== undefined) return this.#problem;
    return this.#served === undefined ? 'there is no certificate yet' : 'starting to listen';
  }

  /** @throws CommandError if the server cannot listen on its address. */
  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#hasChanged = false;
    await this.#keepCertificate();
    if (this.#served !== undefined && this.#server === undefined && !this.#isStopping) await this.#listen(this.#served);
    // Earlier requests would be decided with incomplete caches.
    const isReady = this.#server !== undefined && this.#source.synced();
    if (isReady && this.#served !== undefined) {
      await this.#keepRegistration(this.#served);
      this.#hasTriedToRegister = true;
    }
    if (!this.#isStopping) this.#lookIn(isReady ? this.#waitMs() : FIRST_UPKEEP_MS);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#upkeep = this.#look().catch((error: unknown) => {
        this.#ports.logger.fatal({ err: errorForLog(error) }, 'the webhook cannot continue; this process ends');
        process.exit(error instanceof CommandError ? error.exitCode : ExitCode.failed);
      });
    }, ms);
  }

  #note(): void {
    // Further changes meanwhile cause no delay; before the server listens, the next check is sooner.
    if (this.#hasChanged || this.#isStopping) return;
    this.#hasChanged = true;
    if (this.#timer !== undefined && this.#server !== undefined) this.#lookIn(GATHER_MS);
  }

  #waitMs(): number {
    if (this.#hasChanged) return GATHER_MS;
    const isQuiet = this.#problem === undefined && this.#served?.problem === undefined && this.#isRegistered;
    return isQuiet && this.#watched.isComplete() ? WATCHED_UPKEEP_MS : UPKEEP_MS;
  }

  /** Objects that the upkeep reads, and others may change. */
  #kept(): NamedResource[] {
    const { name, namespace, certificateSecret, register } = this.#settings;
    const secrets = certificateSecret === undefined ? [`${name}-ca`, `${name}-tls`] : [certificateSecret];
    const registration = register ? [...Object.values(RegistrationResource), OwnerResource] : [];
    return [
      ...secrets.map((secret) => ({ ...SECRETS, namespace, name: secret })),
      ...registration.map((one) => ({ ...one, name })),
    ];
  }

  async #keepCertificate(): Promise<void> {
    const before = this.#served;
    try {
      const kept = await this.#certificates(Date.now());
      this.#problem = undefined;
      if (kept.problem !== before?.problem) this.#reportClock(kept);
      // Before the server uses a certificate, the API server must trust it.
      if (before !== undefined && kept.trusted !== before.trusted) await this.#keepRegistration(kept);
      if (kept.pair.certificate !== before?.pair.certificate) this.#use(kept);
      this.#served = kept;
    } catch (error) {
      if (this.#isStopping) return;
      this.#problem = `there is no certificate: ${error instanceof Error ? error.message : String(error)}`;
      this.#ports.logger.error({ err: errorForLog(error) }, 'the certificate cannot be kept; retrying');
    }
  }

  #reportClock({ problem }: ServedCertificate): void {
    if (problem === undefined) return;
    const secret = `${this.#settings.name}-ca`;
    this.#ports.logger.error(
      `the clock of this host is behind: the certificate authority in Secret ${secret} is not valid yet. Correct the clock; if it is right, delete the Secret`,
    );
  }

  #use({ pair }: ServedCertificate): void {
    this.#server?.use(pair);
    const { notAfterMs = 0, names } = certificateReader.read(pair.certificate) ?? {};
    this.#ports.metrics.onCertificate(notAfterMs);
    this.#ports.logger.info({ notAfter: new Date(notAfterMs).toISOString(), names }, 'certificate in use');
  }

  async #keepRegistration({ trusted }: ServedCertificate): Promise<void> {
    const { name, namespace, register, injectFrom, wakeOnLan, bareMetal } = this.#settings;
    const { logger } = this.#ports;
    if (!register) return;
    this.#isRegistered = false;
    try {
      const owner = await this.#findOwner(name);
      const registration = { name, namespace, injectFrom, trusted, owner, wakeOnLan, bareMetal };
      const changes = await registerWebhook((kind) => this.#client(RegistrationResource[kind]), registration);
      for (const { outcome, message, ...change } of changes) {
        if (outcome === 'refused') logger.error({ ...change, message }, 'the webhook cannot be registered; retrying');
        else logger.info(change, `registration of the webhook ${outcome}`);
      }
      this.#isRegistered = changes.every(({ outcome }) => outcome !== 'refused');
    } catch (error) {
      logger.warn({ err: errorForLog(error) }, 'the registration of the webhook cannot be read or written; retrying');
    }
  }

  /** Undefined if there is none, or it may not be read: the registration then stays when the webhook is uninstalled. */
  async #findOwner(name: string): Promise<OwnerReference | undefined> {
    const role = await this.#client(OwnerResource)
      .get(name)
      .catch(() => undefined);
    return toRegistrationOwner(role);
  }

  async #listen({ pair: certificate }: ServedCertificate): Promise<void> {
    const { logger, metrics } = this.#ports;
    const { virtualMachines, namespace } = this.#settings;
    const reviewFeature = await this.#loadFeatures();
    const rules = { facts: this.#source.facts, virtualMachines, controllerUser: serviceAccountsOf(namespace), reviewFeature };
    if (this.#isStopping) return;
    this.#server = await AdmissionServer.start({
      listen: this.#settings.listen,
      certificate,
      review: createClusterReviewer({ ...rules, refresh: this.#source.refresh }),
      onDecided: (decision, { request }, answer) => {
        metrics.onDecided(decision);
        if (decision.outcome === 'allowed') return;
        const { resource, operation, outcome } = decision;
        const about = { resource, operation, namespace: request.namespace, name: request.name };
        logger.info({ ...about, message: answer?.response.status?.message }, `request ${outcome}`);
      },
      onMalformed: (message) => {
        metrics.onMalformed();
        logger.warn({ message }, 'request is not an AdmissionReview; refused');
      },
      onError: (error) => logger.error({ err: errorForLog(error) }, 'no decision; the failurePolicy of the webhook decides'),
    });
    logger.info({ port: this.#server.port }, 'listening for AdmissionReviews');
  }

  /** Their rules use memory: they are loaded only if there are such objects. */
  async #loadFeatures(): Promise<ClusterReviewerSettings['reviewFeature']> {
    const { wakeOnLan, bareMetal } = this.#settings;
    return wakeOnLan || bareMetal ? (await import('./review-feature-object.js')).reviewFeatureObject : undefined;
  }

  #createCertificates(): CertificateSource {
    const { name, namespace, certificateSecret } = this.#settings;
    const { logger } = this.#ports;
    const secrets = clusterSecrets(this.#client(SECRETS), { namespace, labels: WEBHOOK_LABELS });
    if (certificateSecret !== undefined) return givenCertificates(secrets, certificateSecret);
    const onStep = ({ kind, ...step }: Parameters<Parameters<typeof ownCertificates>[0]['onStep']>[0]) =>
      logger.info({ step: kind, ...step }, 'Secret of certificates written');
    return ownCertificates({ secrets, name, namespace, onStep });
  }

  #client(resource: ApiResource): ApiObjectClient<KubernetesObject> {
    return new ApiObjectClient<KubernetesObject>(this.#ports.connection, resource);
  }
}
