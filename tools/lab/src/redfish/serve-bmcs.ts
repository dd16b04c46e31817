// Run inside a machine: `node serve-bmcs.js SETTINGS BEHAVIOURS` serves management controllers (SETTINGS: JSON of `BmcFleetSettings`), and prints what is done to them.
// BEHAVIOURS is a JSON file, `{ "revision": 1, "behaviours": { "bmc-1": "hang" } }`, which is read again when it changes.
import { readFileSync } from 'node:fs';
import type { BmcBehaviour } from './bmc.js';
import { BmcFleet, type BmcFleetSettings } from './bmc-fleet.js';

const LOOK_INTERVAL_MS = 20;

interface WantedBehaviours {
  readonly revision: number;
  readonly behaviours: Readonly<Record<string, BmcBehaviour>>;
}

const [, , settings = '{}', file = ''] = process.argv;
const print = (text: string) => process.stdout.write(`${text}\n`);
const fleet = await BmcFleet.start({ ...(JSON.parse(settings) as BmcFleetSettings), observe: print });
let current = 0;
// Not `watchFile`, which misses a change before its first look.
setInterval(() => {
  const { revision, behaviours } = JSON.parse(readFileSync(file, 'utf8')) as WantedBehaviours;
  if (revision === current) return;
  current = revision;
  for (const { bmc } of fleet.members) bmc.behaviour = behaviours[bmc.id] ?? 'good';
  print(`behaviours of revision ${revision};`);
}, LOOK_INTERVAL_MS);
print(`serving ${fleet.members.length} management controllers`);
