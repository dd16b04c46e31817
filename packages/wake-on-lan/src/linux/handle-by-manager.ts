/** In a cluster: reports wake-ups to the manager that is leader. */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { Logger } from '@vmdhcp/service-process';
import { WolClient } from '../client/wol-client.js';
import { reconnectPauseMs } from '../following/reconnect-pause.js';
import { ManagerReports } from '../report/manager-reports.js';
import type { WakeUpEnds } from '../report/packet-wake-up.js';
import { registerReportMetrics } from './report-metrics.js';
import type { WakeUpHandling } from './wake-up-handling.js';

/** Where the manager is, and for which machines wake-ups are reported. */
export interface ManagerSettings {
  /** host:port */
  readonly manager: string;
  readonly nodeName: string;
  /** `SECRET/KEY` of the password that is checked; undefined if none is, or it has no name. */
  readonly passwordSecret: string | undefined;
  /** Undefined for clear text. */
  readonly tlsDirectory: string | undefined;
  /** Machines of the command line; undefined for all. */
  readonly machines: ReadonlySet<MacAddress> | undefined;
  readonly udpPorts: readonly number[];
}

export function handleByManager(settings: ManagerSettings, hearing: WakeUpEnds, logger: Logger): WakeUpHandling {
  const { manager, nodeName, passwordSecret, tlsDirectory, machines, udpPorts } = settings;
  const reports = new ManagerReports(
    { nodeName, machines },
    {
      connect: (listeners) => new WolClient({ manager, nodeName, passwordSecret, tlsDirectory, ...listeners }),
      hearing,
      logger,
      nowMs: () => performance.now(),
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
      pauseMs: (failures) => reconnectPauseMs(failures, Math.random()),
    },
  );
  return {
    start: () => reports.start(),
    wake: (wakeUp) => reports.wake(wakeUp),
    counts: () => reports.counts(),
    unready: () => reports.unready(),
    registerMetrics: (registry) =>
      registerReportMetrics(registry, {
        info: { node: nodeName, operator: manager, ports: udpPorts },
        ends: () => reports.ends,
        failedTries: () => reports.failedTries,
        waiting: () => reports.waiting,
        listed: () => reports.listed,
        isConnected: () => reports.isConnected,
        remembered: () => hearing.size,
      }),
    stop: () => reports.stop(),
  };
}
