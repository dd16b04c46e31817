import { createWebhookMetrics, WebhookProcess } from '@vmdhcp/admission/webhook';
import { type ClusterOptions, clusterOf, openConnection } from '@vmdhcp/controller-process';
import { ownNamespace } from '@vmdhcp/controller-process/own-namespace';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { ClusterNetworks, VirtualMachineRules } from '@vmdhcp/reconciler';
import { createLogger, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { keepMemorySmall } from '@vmdhcp/service-process/memory';

export interface WebhookOptions extends ClusterOptions {
  readonly listen: ListenAddress;
  readonly http: ListenAddress | 'off';
  readonly name: string;
  readonly namespace?: string;
  readonly certificateSecret?: string;
  readonly injectCaFrom?: string;
  readonly register: boolean;
  readonly virtualMachines: 'warn' | 'refuse';
  readonly wakeOnLan?: boolean;
  readonly bareMetal?: boolean;
  readonly clusterNetworks: ClusterNetworks;
  readonly logLevel: LogLevel;
}

/** Runs until the process is told to end. @throws CommandError if it cannot start at all. */
export async function runWebhook(options: WebhookOptions): Promise<void> {
  const logger = (await createLogger(options.logLevel)).child({ name: options.name });
  const asked = stopSignal();
  keepMemorySmall((error) => logger.warn({ err: errorForLog(error) }, 'cannot return unused memory of the program'));
  const metrics = createWebhookMetrics();
  const onProblem: VirtualMachineRules['onProblem'] = options.virtualMachines === 'refuse' ? 'Refuse' : 'Warn';
  const webhook = new WebhookProcess(
    {
      listen: options.listen,
      http: options.http,
      name: options.name,
      namespace: options.namespace || ownNamespace(),
      certificateSecret: options.certificateSecret || undefined,
      injectFrom: options.injectCaFrom || undefined,
      register: options.register,
      virtualMachines: { onProblem },
      wakeOnLan: options.wakeOnLan === true,
      bareMetal: options.bareMetal === true,
      clusterNetworks: options.clusterNetworks,
    },
    { connection: openConnection(await clusterOf(options), { onRequest: metrics.onRequest }), logger, metrics },
  );
  asked.addEventListener('abort', () => void webhook.stop(), { once: true });
  await webhook.start();
  if (asked.aborted) await webhook.stop();
}
