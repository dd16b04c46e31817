/** Opens records of leases in a state directory for `OpenLeases`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BindingFile, type BindingFilePlace, type OpenedBindings } from './binding-file.js';
import { BINDINGS_FILE } from './binding-snapshot.js';
import { type LogFiles, nodeLogFiles } from './log-files.js';
import { type OpenedRecords, type RecordReport, reportCorrupt } from './opened-records.js';

/** True if the file exists, and so may have leases. */
export function hasBindingFile(folder: string): boolean {
  return existsSync(join(folder, BINDINGS_FILE));
}

/** Opens or creates the file. @param files - default: those of this machine. @throws CommandError if it cannot be used. */
export async function openFileRecords(place: BindingFilePlace, files: LogFiles = nodeLogFiles): Promise<OpenedRecords> {
  const opened = await BindingFile.open(place, files);
  return { store: opened.file, tables: opened.tables, reports: reportsOf(opened, join(place.folder, BINDINGS_FILE)) };
}

function reportsOf({ reading, setAsideAs }: OpenedBindings, file: string): RecordReport[] {
  const torn: RecordReport = {
    ...{ level: 'info', fields: { file, octets: reading.tornOctets } },
    message: 'the last write was cut off when the agent or the host died: it was dropped; no client had an ACK for it',
  };
  return [...(reading.tornOctets > 0 ? [torn] : []), ...reportCorrupt(reading.corrupt, { file, setAsideAs })];
}
