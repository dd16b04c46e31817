/** Adds bare-metal hosts to the controller's process: ClusterAgents and their agents. */

import { BareMetalController, type BareMetalKey, CACHED_HOST_PARTS, type HostAgentSettings } from '@vmdhcp/bare-metal/controller';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { formatTime, NotLeadingError } from '@vmdhcp/kube-runtime';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import type { AddParts } from '../run/added-parts.js';
import type { ControllerMetrics } from '../run/metrics.js';
import { bareMetalLog } from './bare-metal-log.js';
import { createBareMetalMetrics } from './bare-metal-metrics.js';

export interface BareMetalPorts {
  readonly logger: Logger;
  readonly metrics: Pick<ControllerMetrics, 'registry' | 'onReconciled' | 'onError'>;
}

/** The values of the label `kind` for reconciled kinds. */
const KINDS: Readonly<Record<BareMetalKey, string>> = {
  agents: 'clusterAgents',
  statuses: 'clusterAgentStatuses',
  operations: 'hostOperations',
};

/** The parts of one process. */
export function addBareMetal(agents: HostAgentSettings, { logger, metrics: ofProcess }: BareMetalPorts): AddParts {
  return ({ caches, clientOf, identity, isLeading }) => {
    const metrics = createBareMetalMetrics(ofProcess.registry, {
      ready: () => controller.ready(),
      addresses: () => controller.addresses(),
      isLeading,
    });
    const log = bareMetalLog(logger);
    const controller = new BareMetalController({
      ...{
        caches,
        clientOf,
        identity,
        agents,
        clock: systemClock,
        wallTimeMs: Date.now,
        now: () => formatTime(Date.now()),
        random: Math.random,
      },
      observer: {
        ...log,
        onReconciled: (key, result, durationMs) => ofProcess.onReconciled({ kind: KINDS[key], result, durationMs }),
        onRetry: (key, cause) => {
          if (!(cause.error instanceof NotLeadingError)) ofProcess.onError(KINDS[key]);
          log.onRetry(key, cause);
        },
        onReadError: (kind, error) => {
          ofProcess.onError(kind);
          log.onReadError(kind, error);
        },
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
      cachedParts: CACHED_HOST_PARTS,
      leaseAnnotations: () => ({}),
      onLeaseAnnotations: () => undefined,
    };
  };
}
