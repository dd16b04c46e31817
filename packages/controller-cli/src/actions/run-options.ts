/** The options of `run`. */
import type { HostAgentSettings } from '@vmdhcp/bare-metal/controller';
import type { ClusterOptions } from '@vmdhcp/controller-process';
import type { StatusPageSettings } from '@vmdhcp/controller-process/page';
import type { WakeOnLanSettings } from '@vmdhcp/controller-process/wake-on-lan';
import type { AuditSettings, ClusterNetworks } from '@vmdhcp/reconciler';
import type { ListenAddress, LogLevel } from '@vmdhcp/service-process';

export interface RunOptions extends ClusterOptions {
  readonly onlyNamespace?: string;
  readonly name: string;
  readonly http: ListenAddress | 'off';
  readonly leaderElection: boolean;
  readonly crds: boolean;
  readonly annotateMachines?: boolean;
  readonly clusterNetworks: ClusterNetworks;
  /** Undefined if there is no Wake-on-LAN. */
  readonly wakeOnLan: WakeOnLanSettings | undefined;
  /** Undefined if there are no bare-metal hosts. */
  readonly bareMetal: HostAgentSettings | undefined;
  /** Undefined if no records of assignments are kept. */
  readonly audit: AuditSettings | undefined;
  /** Undefined if there is no page. */
  readonly statusPage: StatusPageSettings | undefined;
  readonly enableCacheDumpApi?: boolean;
  readonly logLevel: LogLevel;
  readonly debug?: boolean;
  readonly trace?: boolean;
}
