/**
 * Adds Wake-on-LAN to the controller's process: WolConfigs and their agents, the decision about wake-ups, and the server that
 * agents report to.
 */

import { EVENT_COMPONENT, Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type EventObject,
  EventRecorder,
  fencedClient,
  formatTime,
  type KubernetesObject,
  watchObjects,
} from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient, ApiRequestError, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { hasLostAddress } from '@vmdhcp/reconciler';
import { clusterSecrets } from '@vmdhcp/service-certificates/node';
import { formatListenAddress, type ListenAddress, type Logger } from '@vmdhcp/service-process';
import { kubevirtRequests, type WakeDaemonSetSettings, WakeDecider, WakeOnLanController } from '@vmdhcp/wake-on-lan/controller';
import type { Registry } from 'prom-client';
import { WAKE_SECRET_LABELS } from '../cluster/wake-secret-labels.js';
import { WAKE_ON_LAN_RESOURCES } from '../crds/apply-crds.js';
import type { AddParts, PartsContext } from '../run/added-parts.js';
import { configObserver } from './config-observer.js';
import { LeaderAddress } from './leader-address.js';
import { AGENT_SECRET, WAKE_SECRETS, WakeCertificates, type WakeCertificatesPorts } from './wake-certificates.js';
import { createWakeLog } from './wake-log.js';
import { registerWakeMetrics, type WakeMetrics } from './wake-metrics.js';
import { WakeServer } from './wake-server.js';

/** Where agents of Wake-on-LAN report to this controller, and what their pods are like. */
export interface WakeOnLanSettings {
  readonly listen: ListenAddress;
  readonly agents: Omit<WakeDaemonSetSettings, 'tlsSecret'>;
  /** Where agents reach this process; undefined: not known. */
  readonly podAddress: string | undefined;
  /** Without TLS. */
  readonly clearText: boolean;
}

export interface WakeOnLanPorts {
  /** For Wake-on-LAN alone, so that slow requests do not delay DHCP. */
  readonly connection: ApiConnection;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The parts of one process. */
export function addWakeOnLan(settings: WakeOnLanSettings, ports: WakeOnLanPorts): AddParts {
  return (context) => {
    const { caches, clientOf, inventory, identity } = context;
    let isComplete = false;
    const controller = new WakeOnLanController({
      ...{ caches, clientOf, inventory, identity, clock: systemClock, now: () => formatTime(Date.now()), random: Math.random },
      agents: { ...settings.agents, tlsSecret: settings.clearText ? undefined : AGENT_SECRET },
      observer: configObserver(ports.logger, () => {
        isComplete = true;
      }),
    });
    const manager: ManagerContext = {
      ...{ settings, ports, context, controller, isComplete: () => isComplete },
      leader: new LeaderAddress(ownAddress(settings)),
      events: eventRecorder(ports, identity),
      metrics: registerWakeMetrics(ports.registry, {
        managedMachines: controller.index.size,
        managedBy: () => controller.managed(),
        waiting: () => decider.waiting,
        followers: () => server.followers,
      }),
    };
    const decider = createDecider(manager);
    const server = createServer(manager, decider);
    return {
      parts: [controller, server],
      customResources: WAKE_ON_LAN_RESOURCES,
      leaseAnnotations: manager.leader.annotations,
      onLeaseAnnotations: manager.leader.note,
    };
  };
}

/** Shared by the decision and the server. */
interface ManagerContext {
  readonly settings: WakeOnLanSettings;
  readonly ports: WakeOnLanPorts;
  readonly context: Parameters<AddParts>[0];
  readonly controller: WakeOnLanController;
  /** True once every WolConfig was read. */
  readonly isComplete: () => boolean;
  readonly leader: LeaderAddress;
  readonly events: EventRecorder;
  readonly metrics: WakeMetrics;
}

function createDecider({ ports, context, controller, isComplete, leader, events, metrics }: ManagerContext): WakeDecider {
  const { connection, logger } = ports;
  const { isLeading } = context;
  const log = createWakeLog(logger, systemClock.nowMs);
  return new WakeDecider({
    hasLostAddress,
    ...kubevirtRequests(
      (resource) => fencedClient(new ApiObjectClient<KubernetesObject>(connection, resource), isLeading),
      (error) => (error instanceof ApiRequestError ? (error.status ?? 0) : undefined),
    ),
    ...{ clock: systemClock, wallTimeMs: Date.now, isLeading },
    leaderAddress: () => leader.other,
    index: {
      get synced() {
        return isComplete() && controller.synced;
      },
      find: controller.index.find,
    },
    policyOf: controller.index.policyOf,
    record: (regarding, event) => events.record(regarding, event),
    observer: {
      ...log,
      onReport: (report) => {
        metrics.onReport();
        log.onReport(report);
      },
      onAnswer: (decided) => {
        metrics.onDecided(decided);
        log.onAnswer(decided);
      },
      onWaitOver: (decided) => {
        metrics.onDecided(decided);
        log.onWaitOver(decided);
      },
    },
  });
}

function createServer(manager: ManagerContext, decider: WakeDecider): WakeServer {
  const { settings, ports, context, controller, isComplete, leader, events } = manager;
  return new WakeServer({
    listen: settings.listen,
    clock: systemClock,
    logger: ports.logger,
    handler: {
      report: (report) => decider.report(report),
      isServing: () => context.isLeading() && isComplete(),
      leader: () => leader.other,
      wakeable: controller.index.addresses,
    },
    openCertificates: settings.clearText ? undefined : (onMaterial) => createCertificates(manager, onMaterial),
    onStop: async () => {
      await decider.stop();
      await events.flush();
      events.stop();
      ports.connection.close();
    },
  });
}

function createCertificates(
  { settings: { agents }, ports: { connection, logger }, metrics }: ManagerContext,
  onMaterial: WakeCertificatesPorts['onMaterial'],
): WakeCertificates {
  const { namespace } = agents;
  const open = (resource: ApiResource) => new ApiObjectClient<KubernetesObject>(connection, resource);
  const named = WAKE_SECRETS.map((name) => ({ ...Resource.secrets, namespace, name }));
  return new WakeCertificates({
    secrets: clusterSecrets(open(Resource.secrets), { namespace, labels: WAKE_SECRET_LABELS }),
    watch: (onChange) => watchObjects(named, { open, clock: systemClock, random: Math.random, onChange }),
    clock: systemClock,
    wallTimeMs: Date.now,
    logger,
    onMaterial,
    onExpiry: metrics.onCertificate,
  });
}

/**
 * A separate budget: a flood of wake-ups takes no Events from DHCP. Without a fence, because the loss of the leadership is itself
 * reported by an Event.
 */
function eventRecorder({ connection, logger }: WakeOnLanPorts, identity: PartsContext['identity']): EventRecorder {
  return new EventRecorder({
    client: new ApiObjectClient<EventObject>(connection, Resource.events),
    clock: systemClock,
    now: () => formatTime(Date.now()),
    random: Math.random,
    component: EVENT_COMPONENT,
    instance: identity,
    onError: (error) => logger.debug({ err: errorForLog(error) }, 'event not written'),
  });
}

function ownAddress({ podAddress, listen }: WakeOnLanSettings): string | undefined {
  return podAddress === undefined ? undefined : formatListenAddress({ host: podAddress, port: listen.port });
}
