import { OpenLeases, type OpenLeasesSettings, openFileRecords, StateDirectory } from '@vmdhcp/lease-stores';
import type { HostLeases } from './host-dhcp.js';

/** Leases of unknown clients, open for this process alone. */
export interface HostLeaseStore {
  readonly open: HostLeases;
  readonly close: () => Promise<void>;
}

/**
 * Opens the leases in a state directory and locks it for this process. Another replica with the same directory waits until this
 * one closes it or ends.
 * @throws CommandError if the directory cannot be used.
 */
export async function openDirectoryLeases(
  path: string,
  settings: Omit<OpenLeasesSettings, 'hasRecords' | 'openRecords'>,
): Promise<HostLeaseStore> {
  const directory = await StateDirectory.open(path);
  try {
    const { path: folder } = directory;
    const { nowMs } = settings;
    const openRecords = () => openFileRecords({ folder, nowMs });
    const open = new OpenLeases({ ...settings, hasRecords: () => true, openRecords });
    await open.prepare([]);
    return {
      open,
      close: async () => {
        await open.close();
        await directory.close();
      },
    };
  } catch (error) {
    await directory.close();
    throw error;
  }
}
