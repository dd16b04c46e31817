/**
 * The aggregation layer: requests of a group and version that an APIService gives to another server go there, after this server has
 * authenticated and authorized them.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { describeConnectionFailure } from '../admission/connection-failure.js';
import type { ServiceDirectory } from '../admission/webhook-address.js';
import type { ApiClient } from '../api/api-client.js';
import { LiveList } from '../api/live-list.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { updateObject } from '../controllers/update-object.js';
import { WorkQueue } from '../controllers/work-queue.js';
import { toTime } from '../controllers/workload-kinds.js';
import { objectsOf, section } from '../json-parts.js';
import type { User } from '../request-user.js';
import { type ApiRegistration, pathOf, readRegistration } from './api-registration.js';
import { BackendConnections, type ClientCertificate } from './backend-connections.js';
import { type Availability, checkAvailability } from './check-availability.js';
import { endToEnd, forwardedHeaders } from './forwarded-headers.js';

const apiServices = { group: 'apiregistration.k8s.io', resource: 'apiservices' };
const services = { resource: 'services' };
/** A server that answers is checked again after this time, because it may disappear silently. As in the real server. */
const recheckMs = 30_000;
/** The real server waits between 5 ms and 30 s, longer each time. */
const recheckOfFailedMs = 250;

export interface AggregatorOptions {
  readonly api: ApiClient;
  readonly services: ServiceDirectory;
  readonly certificate: ClientCertificate;
  readonly onError: (error: unknown, key: string) => void;
}

/** A group and version of another server, as discovery shows it. */
export interface AggregatedVersion {
  readonly group: string;
  readonly version: string;
  /** The latest entries of the server's APIResourceList. */
  readonly resources: readonly JsonObject[];
  /** False: the server cannot be used now. */
  readonly isCurrent: boolean;
}

export type Forwarded =
  | { readonly kind: 'answered'; readonly response: IncomingMessage; readonly headers: OutgoingHttpHeaders }
  /** Answered with 503 and this text, which is not JSON. */
  | { readonly kind: 'unavailable'; readonly message: string };

export interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly user: User;
  /** Ends the request, as if the client had gone. */
  readonly signal: AbortSignal;
}

export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #registered: LiveList;
  readonly #connections: BackendConnections;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];
  /** By the name of the APIService. */
  readonly #resources = new Map<string, readonly JsonObject[]>();

  constructor(options: AggregatorOptions) {
    this.#options = options;
    this.#connections = new BackendConnections(options.certificate);
    this.#queue = new WorkQueue({ handle: (name) => this.#check(name), onError: options.onError });
    this.#registered = new LiveList(options.api, apiServices);
    this.#unwatch = [
      options.api.watch(apiServices, ({ type, object }) => {
        const name = object.metadata.name ?? '';
        if (type === 'DELETED') this.#resources.delete(name);
        else this.#queue.add(name);
      }),
      options.api.watch(services, ({ object }) =>
        this.serviceChanged(object.metadata.namespace ?? '', object.metadata.name ?? ''),
      ),
    ];
  }

  /** Checks the servers behind a Service again, because its address has changed or is gone. */
  serviceChanged(namespace: string, name: string): void {
    for (const { name: key, service } of this.#registrations()) {
      if (service.namespace === namespace && service.name === name) this.#queue.add(key);
    }
  }

  /** The server of a path, if it is not this one. */
  registrationAt(path: string): ApiRegistration | undefined {
    return this.#registrations().find((each) => path === pathOf(each) || path.startsWith(`${pathOf(each)}/`));
  }

  get versions(): readonly AggregatedVersion[] {
    return this.#registrations().map(({ name, group, version, isAvailable }) => ({
      group,
      version,
      resources: this.#resources.get(name) ?? [],
      isCurrent: isAvailable,
    }));
  }

  /** Forwards a request with the same path and body; its credentials are replaced by the user's name and groups. */
  async forward(registration: ApiRegistration, { request, user, signal }: ForwardedRequest): Promise<Forwarded> {
    const endpoint = this.#options.services.endpointOf(registration.service);
    if (!registration.isAvailable || endpoint === undefined) return { kind: 'unavailable', message: 'service unavailable' };
    const headers = { ...forwardedHeaders(request.headers, user), 'x-forwarded-for': request.socket.remoteAddress ?? '' };
    const sent = { method: request.method ?? 'GET', path: request.url ?? '/', headers, signal, body: request };
    try {
      const response = await this.#connections.send(registration, endpoint, sent);
      return { kind: 'answered', response, headers: endToEnd(response.headers) };
    } catch (error) {
      return { kind: 'unavailable', message: `error trying to reach service: ${describeConnectionFailure(error, endpoint)}` };
    }
  }

  async stop(): Promise<void> {
    this.#registered.stop();
    for (const unwatch of this.#unwatch) unwatch();
    this.#connections.close();
    await this.#queue.stop();
  }

  #registrations(): readonly ApiRegistration[] {
    return this.#registered.all().flatMap((object) => readRegistration(object) ?? []);
  }

  async #check(name: string): Promise<void> {
    const object = this.#options.api.get({ ...apiServices, name });
    if (object === undefined) return;
    const registration = readRegistration(object);
    if (registration === undefined) return this.#write(name, local);
    const { condition, resources } = await checkAvailability(registration, { ...this.#options, connections: this.#connections });
    if (resources !== undefined) this.#resources.set(name, resources);
    await this.#write(name, condition);
    this.#queue.addAfter(name, condition.reason === 'FailedDiscoveryCheck' ? recheckOfFailedMs : recheckMs);
  }

  #write(name: string, { status, reason, message }: Availability['condition']): Promise<void> {
    return updateObject<ApiObject>(this.#options.api, { ...apiServices, name, subresource: 'status' }, (live) => {
      const before = objectsOf(section(live, 'status')['conditions']).find((condition) => condition['type'] === 'Available');
      if (before?.['reason'] === reason && before['message'] === message) return live;
      const since = before?.['status'] === status ? before['lastTransitionTime'] : undefined;
      const lastTransitionTime = since ?? toTime(new Date());
      return { ...live, status: { conditions: [{ type: 'Available', status, lastTransitionTime, reason, message }] } };
    });
  }
}

const local = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
