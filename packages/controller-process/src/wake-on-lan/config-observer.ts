/** Logs events of WolConfigs and of the DaemonSets of their agents. */
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import type { WakeOnLanObserver } from '@vmdhcp/wake-on-lan/controller';
import { logRetry } from '../run/log-retry.js';

/** An observer that writes the log. The first line is the same as in kubevirt-wol. */
export function configObserver(logger: Logger, onSynced: () => void): WakeOnLanObserver {
  return {
    onSynced: () => {
      logger.info('WolConfigs and virtual machines listed; deciding about wake-ups');
      onSynced();
    },
    onAgentWrite: ({ kind, object }) => {
      const { namespace, name } = object.metadata;
      logger.info({ daemonSet: `${namespace}/${name}` }, WRITES[kind]);
    },
    onRetry: (key, retry) => logRetry(logger, { kind: 'WolConfig', key }, retry),
    onTerminal: (key, reason) =>
      logger.error({ kind: 'WolConfig', key, reason }, 'reconcile failed; not retrying until an object changes'),
    onReadError: (kind, error) => logger.warn({ kind, err: errorForLog(error) }, 'list or watch failed; retrying'),
    onEventError: (error) => logger.debug({ err: errorForLog(error) }, 'event not written'),
  };
}

const WRITES = {
  create: 'Creating agent DaemonSet',
  patch: 'agent DaemonSet is changed',
  delete: 'agent DaemonSet is removed',
} as const;
