import type { Pool } from '@vmdhcp/dhcp-allocator';
import { OpenLeases, type OpenLeasesSettings } from '../bare-host/open-leases.js';
import { hasBindingFile, openFileRecords } from '../bindings/file-records.js';
import { StateDirectory } from '../state/state-directory.js';
import type { HostLeases } from './host-dhcp.js';

/** Leases of unknown clients, open for this process alone. */
export interface HostLeaseStore {
  readonly open: HostLeases;
  readonly close: () => Promise<void>;
}

/**
 * The leases in a state directory that this process has locked. Another replica with the same directory waits until this one closes it or ends.
 * @throws CommandError where the directory cannot be used.
 */
export async function openDirectoryLeases(
  path: string,
  settings: Omit<OpenLeasesSettings, 'hasRecords' | 'openRecords'>,
): Promise<HostLeaseStore> {
  const directory = await StateDirectory.open(path);
  try {
    const { path: folder } = directory;
    const { nowMs } = settings;
    const hasRecords = () => hasBindingFile(folder);
    const open = new OpenLeases({ ...settings, hasRecords, openRecords: () => openFileRecords({ folder, nowMs }) });
    // Which addresses are dynamic makes no difference: the file is opened if there are any.
    await open.prepare([{ dynamic: [{ first: 0, last: 0 }] } as unknown as Pool]);
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
