import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from '../lab.js';
import type { LabProcess } from '../lab-process.js';
import type { BmcBehaviour } from './bmc.js';
import type { BmcFleetSettings } from './bmc-fleet.js';

/** Built, also where this file is not. */
const SERVE_BMCS_BIN = join(import.meta.dirname, '../../dist/redfish/serve-bmcs.js');

export type BmcsInMachineSettings = Omit<BmcFleetSettings, 'observe'>;

export interface BmcsInMachine {
  /** Prints `bmc-1 reset ForceOff`, `bmc-1 boot override Once Pxe`, `bmc-1 boot from Pxe`: its lines count what was done. Ends with the lab. */
  readonly process: LabProcess;
  /** Resolves when they behave so; those that are not named are good. */
  readonly behave: (behaviours: Readonly<Record<string, BmcBehaviour>>) => Promise<void>;
}

/** Management controllers inside of a machine, one for each of its addresses that the settings name: `bmc-1` has the first one. Resolves when all listen. */
export async function startBmcs(machine: Machine, settings: BmcsInMachineSettings): Promise<BmcsInMachine> {
  const file = join(machine.folder, 'behaviours.json');
  let revision = 0;
  const write = async (behaviours: Readonly<Record<string, BmcBehaviour>>) => {
    // Replaced atomically: half of the file is not JSON.
    await writeFile(`${file}.new`, JSON.stringify({ revision, behaviours }));
    await rename(`${file}.new`, file);
  };
  await write({});
  const served = machine.start(process.execPath, [SERVE_BMCS_BIN, JSON.stringify(settings), file]);
  await served.line('serving ');
  return {
    process: served,
    behave: async (behaviours) => {
      revision++;
      await write(behaviours);
      await served.line(`behaviours of revision ${revision};`);
    },
  };
}
