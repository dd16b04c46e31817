import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import {
  BARE_METAL_API_VERSION,
  DHCP_ACTIVE_LABEL,
  HOST_ADDRESS_LABEL,
  HOST_MODE_LABEL,
} from '@vmdhcp/ippool-api/bare-metal/keys';
import type { OwnerReference } from '@vmdhcp/kube-runtime';
import { formatTime } from '@vmdhcp/kube-runtime';
import type { HostConnection } from '../host/cluster-agent-settings.js';
import { isLabelValue } from '../host/host-name.js';
import type { HostMode } from '../host/read-host.js';
import type { NewHostStatus } from './inventory-plan.js';

/** The wanted content of the object of a host. */
export interface WantedHost {
  readonly name: string;
  readonly clusterAgent: string;
  readonly address: string;
  readonly mode: HostMode;
  readonly connection: HostConnection;
  /** Undefined: the stored value stays. */
  readonly macAddress: MacAddress | undefined;
  /** Undefined if not learned from a lease. */
  readonly isActive: boolean | undefined;
  /** The HostEndpoint. */
  readonly owner: OwnerReference | undefined;
}

/** Null if the label must be absent. */
export function wantedLabels({ address, mode, isActive }: WantedHost): Readonly<Record<string, string | null>> {
  return {
    // An IPv6 address is not a valid label value.
    [HOST_ADDRESS_LABEL]: isLabelValue(address) ? address : null,
    [HOST_MODE_LABEL]: mode,
    [DHCP_ACTIVE_LABEL]: isActive === undefined ? null : String(isActive),
  };
}

/**
 * `status.basic`. Null if the field must be absent. @param macSince - when its MAC address replaces another one; undefined: the
 * stored value stays.
 */
export function wantedBasic(
  { address, mode, connection, macAddress, isActive }: WantedHost,
  macSince?: string,
): Readonly<Record<string, unknown>> {
  return {
    type: mode,
    ipAddr: address,
    https: connection.https,
    port: connection.port,
    secretName: connection.secretName ?? null,
    secretNamespace: connection.secretNamespace ?? null,
    ...(macAddress !== undefined && { mac: macAddress }),
    ...(macSince !== undefined && { macSince }),
    activeDhcpClient: isActive ?? null,
  };
}

/** The object of a host that has none yet. */
export function newObject(wanted: WantedHost): NewHostStatus {
  return {
    apiVersion: BARE_METAL_API_VERSION,
    kind: 'HostStatus',
    metadata: {
      name: wanted.name,
      labels: withoutNull(wantedLabels(wanted)) as Record<string, string>,
      ...(wanted.owner !== undefined && { ownerReferences: [wanted.owner] }),
    },
  };
}

/** Both names of the field: readers of the design of this API look for `healthReady`. */
export function healthOf(isHealthy: boolean): { readonly healthy: boolean; readonly healthReady: boolean } {
  return { healthy: isHealthy, healthReady: isHealthy };
}

/** The status that a new object gets. */
export function newStatus(wanted: WantedHost, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    ...healthOf(false),
    clusterAgent: wanted.clusterAgent,
    lastUpdateTime: formatTime(nowMs),
    basic: { mac: '', ...withoutNull(wantedBasic(wanted)) },
    info: {},
  };
}

function withoutNull(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
