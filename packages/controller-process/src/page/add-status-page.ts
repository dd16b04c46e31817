/** Adds the read-only page to the controller's process. Each replica serves it: all of them follow the cluster. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ControllerPart, type KubernetesObject, listAll, type SharedCaches } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { formatListenAddress, type ListenAddress, type Logger } from '@vmdhcp/service-process';
import {
  createClusterSource,
  type EventSelection,
  loadAssets,
  PageService,
  ReviewAccess,
  type SectionRight,
} from '@vmdhcp/status-page';
import type { AddParts } from '../run/added-parts.js';
import { listEventsWithinLimits } from './list-events-within-limits.js';
import { reviewPorts } from './review-ports.js';

/** Where the page listens, its certificate, and for whom tokens must be. */
export interface StatusPageSettings {
  readonly listen: ListenAddress;
  /** Undefined for HTTP without TLS, on a loopback address. */
  readonly tlsDirectory: string | undefined;
  /** The audiences of accepted tokens; empty for the API server's own. */
  readonly audiences: readonly string[];
}

/** The limit of an answer to the page: it holds 500 HostStatuses, or one of the largest Events however it is escaped. */
export const MOST_ANSWER_OCTETS = 16 << 20;

/** The features of this controller that the page shows. */
export interface ShownParts {
  readonly onlyNamespace: string | undefined;
  /** Undefined if it deploys no agents. */
  readonly agentsNamespace: string | undefined;
  readonly hasWakeOnLan: boolean;
  readonly hasBareMetal: boolean;
}

export interface StatusPagePorts {
  /** For reviews and lists of the page alone, so that slow ones do not delay DHCP; with `MOST_ANSWER_OCTETS`. */
  readonly connection: ApiConnection;
  readonly logger: Logger;
  readonly version: string;
}

/** How often HostStatuses are read, in milliseconds, however many pages are open. */
const HOSTS_MS = 5_000;
/** The same for Events, for each selection of them. */
const EVENTS_MS = 5_000;
const MOST_SELECTIONS = 256;

/** The parts of one process. */
export function addStatusPage(settings: StatusPageSettings, shown: ShownParts, ports: StatusPagePorts): AddParts {
  return ({ caches, isLeading }) => ({
    parts: [createPart({ settings, shown, ports, caches, isLeading })],
    customResources: [],
    leaseAnnotations: () => ({}),
    onLeaseAnnotations: () => undefined,
  });
}

interface PartSettings {
  readonly settings: StatusPageSettings;
  readonly shown: ShownParts;
  readonly ports: StatusPagePorts;
  readonly caches: SharedCaches;
  readonly isLeading: () => boolean;
}

function createPart({ settings, shown, ports, caches, isLeading }: PartSettings): ControllerPart {
  const { connection, logger, version } = ports;
  const instance = randomUUID();
  const source = createClusterSource({
    caches,
    instance,
    ...shown,
    events: readEachEvery(EVENTS_MS, describeSelection, (selection) => listEventsWithinLimits(connection, selection)),
    hostStatuses: shown.hasBareMetal ? readEvery(HOSTS_MS, () => listHostStatuses(connection)) : undefined,
    isLeading,
    wallTimeMs: Date.now,
    // The controller reads the same kinds, and logs failures.
    onError: (kind, error) => logger.debug({ kind, err: errorForLog(error) }, 'list or watch failed; retrying'),
  });
  const access = new ReviewAccess(
    { rights: neededRights(shown) },
    {
      ...reviewPorts(connection, settings.audiences),
      clock: systemClock,
      onError: (error) => logger.warn({ err: errorForLog(error) }, 'the page: the API server did not decide about a token'),
      onRefused: (refusal) => logger.info(refusal, 'the page: access refused'),
    },
  );
  const service = new PageService({
    ...{ source, access, assets: loadAssets(), clock: systemClock, wallTimeMs: Date.now, instance, version },
    ...{ servedBy: hostname(), onlyLoopbackNames: false, listen: settings.listen, tlsDirectory: settings.tlsDirectory },
    onError: (error) => logger.error({ err: errorForLog(error) }, 'the page: a request failed'),
    onListening: (port) => {
      const address = formatListenAddress({ host: settings.listen.host, port });
      logger.info({ address, tls: settings.tlsDirectory !== undefined }, 'the page is served');
    },
    onReplaced: (endsAtMs) => logger.info({ until: new Date(endsAtMs).toISOString() }, 'the page has another certificate'),
    onProblem: (message) => logger.error(`${message}; retrying. DHCP continues`),
  });
  return {
    name: 'status-page',
    // It shows what is known, and says what is not: DHCP does not wait for it.
    synced: true,
    start: () => {
      source.start();
      service.start();
    },
    lead: () => undefined,
    stop: async () => {
      await service.stop();
      source.stop();
      connection.close();
    },
  };
}

/** The lists that a user must be allowed to read, to see the same here. */
function neededRights({ onlyNamespace = '', agentsNamespace, hasWakeOnLan, hasBareMetal }: ShownParts) {
  const right = ({ group, plural }: { readonly group: string; readonly plural: string }, namespace = ''): SectionRight => ({
    verb: 'list',
    group,
    resource: plural,
    namespace,
  });
  return {
    pools: [right(Resource.ipPools, onlyNamespace)],
    // Machines without a config are shown too. An explanation reads the other kinds; users of these sections also see its IPPools
    // and Leases.
    machines: [Resource.networkConfigs, Resource.virtualMachines, Resource.virtualMachineInstances, Resource.networks].map(
      (kind) => right(kind, onlyNamespace),
    ),
    events: eventNamespaces(onlyNamespace, agentsNamespace).map((namespace) => right(Resource.events, namespace)),
    ...(agentsNamespace !== undefined && { agents: [right(Resource.leases, agentsNamespace)] }),
    ...(hasWakeOnLan && { 'wake-on-lan': [right(Resource.wolConfigs)] }),
    ...(hasBareMetal && { hosts: [right(Resource.clusterAgents), right(Resource.hostStatuses)] }),
  };
}

/** Empty for all namespaces. */
function eventNamespaces(onlyNamespace: string, agentsNamespace: string | undefined): readonly string[] {
  const isWithin = onlyNamespace === '' || agentsNamespace === undefined || agentsNamespace === onlyNamespace;
  return isWithin ? [onlyNamespace] : [onlyNamespace, agentsNamespace];
}

function listHostStatuses(connection: ApiConnection): Promise<readonly KubernetesObject[]> {
  return listAll(new ApiObjectClient<KubernetesObject>(connection, Resource.hostStatuses));
}

function describeSelection({ namespace, kind, name, component }: EventSelection): string {
  return JSON.stringify([namespace, kind, name, component]);
}

/** What was read, for as long; requests that come meanwhile share one. */
function readEvery<Value>(ms: number, read: () => Promise<Value>): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    const nowMs = systemClock.nowMs();
    if (known !== undefined && nowMs - known.atMs < ms) return known.value;
    const value = read();
    known = { value, atMs: nowMs };
    value.catch(() => {
      known = undefined;
    });
    return value;
  };
}

/** The same for each distinct argument, with a limit of arguments. */
function readEachEvery<Argument, Value>(
  ms: number,
  nameOf: (argument: Argument) => string,
  read: (argument: Argument) => Promise<Value>,
) {
  const known = new Map<string, () => Promise<Value>>();
  return (argument: Argument): Promise<Value> => {
    const name = nameOf(argument);
    const reader = known.get(name) ?? readEvery(ms, () => read(argument));
    known.delete(name);
    known.set(name, reader);
    const [oldest] = known.keys();
    if (known.size > MOST_SELECTIONS && oldest !== undefined) known.delete(oldest);
    return reader();
  };
}
