import { abortWithin } from '../objects/abort-within.js';
import type { HostAgentPorts, HostTarget, PollReport } from '../ports.js';

/** A management controller may take this long to report everything. */
const READ_WITHIN_MS = 30_000;

export interface ReadHealth {
  readonly report: PollReport;
  /** It did not answer in time. */
  readonly isOverdue: boolean;
}

/**
 * Reads a management controller. After half a minute, or when `ended` is aborted, its answer counts as missing, whether the port
 * responds or not. Never rejects.
 */
export async function readWithin(ports: HostAgentPorts, target: HostTarget, ended: AbortSignal): Promise<ReadHealth> {
  const { clock, managementControllers, observer } = ports;
  const { signal, release } = abortWithin(clock, READ_WITHIN_MS, ended);
  const missing = Promise.withResolvers<ReadHealth>();
  const message = `the management controller at ${target.address} did not answer within ${READ_WITHIN_MS / 1_000} seconds: look at its address, its port and its network`;
  const miss = () => missing.resolve({ report: { kind: 'unhealthy', message }, isOverdue: true });
  signal.addEventListener('abort', miss, { once: true });
  try {
    // Leadership may have ended while the Secret was read.
    if (signal.aborted) return { report: { kind: 'unhealthy', message }, isOverdue: true };
    const read = Promise.resolve(managementControllers.read(target, signal)).then((report) => ({ report, isOverdue: false }));
    return await Promise.race([read, missing.promise]);
  } catch (error) {
    observer.observe({ kind: 'unexpected-error', error });
    return {
      report: { kind: 'unhealthy', message: 'the agent failed to read the management controller: see its log' },
      isOverdue: false,
    };
  } finally {
    release();
  }
}
