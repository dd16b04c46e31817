import type { Clock } from '@vmdhcp/kube-runtime';
import type { ApiTransport } from '@vmdhcp/kube-runtime/node';
import { OpenLeases, type OpenLeasesSettings } from '@vmdhcp/lease-stores';
import { BindingObjects, leaseSlicePorts } from '@vmdhcp/lease-stores/objects';
import type { HostLeaseStore } from './directory-leases.js';

/** The connection to the LeaseSlices, and whose leases they are. */
export interface ApiLeasesSettings extends Omit<OpenLeasesSettings, 'hasRecords' | 'openRecords'> {
  readonly connection: ApiTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly namespace: string;
  readonly clusterAgent: string;
  /** Names this replica for people. */
  readonly replica: string;
  /** True while this replica is leader. */
  readonly mayWrite: () => boolean;
}

/**
 * Opens the leases in LeaseSlices of the cluster. From then on no other replica records leases, until it opens them too.
 * @throws Error in words if they cannot be read or taken over.
 */
export async function openApiLeases(settings: ApiLeasesSettings): Promise<HostLeaseStore> {
  const { connection, logger, ...others } = settings;
  const openRecords = () =>
    BindingObjects.open({
      ...others,
      ...leaseSlicePorts(connection, settings),
      onDamage: (problem) => logger.warn(problem),
      onTakenOver: () => logger.warn('another replica records leases now: this one records none until it is leader again'),
    });
  const open = new OpenLeases({ ...settings, hasRecords: () => true, openRecords });
  await open.prepare([]);
  return { open, close: () => open.close() };
}
