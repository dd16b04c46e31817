/** Bare-metal hosts as a part of the controller's process: ClusterAgents and their agents. */
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { BareMetalController, type HostAgentSettings } from '@vmdhcp/reconciler/bare-metal';
import type { Logger } from '@vmdhcp/service-process';
import type { Registry } from 'prom-client';
import type { AddParts } from '../run/added-parts.js';
import { bareMetalLog } from './bare-metal-log.js';
import { createBareMetalMetrics } from './bare-metal-metrics.js';

export interface BareMetalPorts {
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The parts of one process. */
export function addBareMetal(agents: HostAgentSettings, { logger, registry }: BareMetalPorts): AddParts {
  return ({ caches, clientOf, identity, isLeading }) => {
    const metrics = createBareMetalMetrics(registry, { ready: () => controller.ready(), isLeading });
    const log = bareMetalLog(logger);
    const controller = new BareMetalController({
      ...{ caches, clientOf, identity, agents, clock: systemClock, wallTimeMs: Date.now, now: rfc3339, random: Math.random },
      observer: {
        ...log,
        onAgentWrite: (write) => {
          metrics.onAgentWrite(write);
          log.onAgentWrite(write);
        },
        onOrphanedOperation: (name) => {
          metrics.onOrphanedOperation();
          log.onOrphanedOperation(name);
        },
      },
    });
    return {
      parts: [controller],
      customResources: bareMetalResources,
      leaseAnnotations: () => ({}),
      onLeaseAnnotations: () => undefined,
    };
  };
}

/** Seconds, as Kubernetes writes times. */
function rfc3339(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
