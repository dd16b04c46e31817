/** Logs events of ClusterAgents and of the objects of their agents. */

import type { BareMetalObserver } from '@vmdhcp/bare-metal/controller';
import { keyOf } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import { logRetry } from '../run/log-retry.js';

type Needed = 'onAgentWrite' | 'onOrphanedOperation' | 'onRetry' | 'onReadError';
type Log = BareMetalObserver & Required<Pick<BareMetalObserver, Needed>>;

/** An observer that writes the log. */
export function bareMetalLog(logger: Logger): Log {
  return {
    onSynced: () => logger.info('ClusterAgents and hosts listed; reconciling'),
    onAgentWrite: ({ kind, object }) =>
      logger.info({ kind: object.kind, object: keyOf(object), clusterAgent: ownerOf(object) }, WRITES[kind]),
    onOrphanedOperation: (operation) => logger.warn({ operation }, 'no agent accepts this HostOperation: it failed'),
    onRetry: (key, retry) => logRetry(logger, { kind: 'ClusterAgent', key }, retry),
    onTerminal: (key, reason) =>
      logger.error(
        { kind: 'ClusterAgent', key, reason },
        'reconcile failed; trying again when an object changes, and every 30 s',
      ),
    onReadError: (kind, error) => logger.warn({ kind, err: errorForLog(error) }, 'list or watch failed; retrying'),
    onEventError: (error) => logger.debug({ err: errorForLog(error) }, 'event not written'),
  };
}

const WRITES = {
  create: 'object of bare-metal agents created',
  patch: 'object of bare-metal agents changed',
  delete: 'object of bare-metal agents removed',
} as const;

function ownerOf({
  metadata,
}: {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}): string | undefined {
  return metadata.labels?.['bmc.spidernet.io/cluster-agent'];
}
