// Writes biome.walls.json from the table of walls; `scripts/check-import-walls.mjs` fails when the file is not what this would write.
import { writeFileSync } from 'node:fs';
import { toLinterRules } from './walls.mjs';

writeFileSync(new URL('../biome.walls.json', import.meta.url), `${JSON.stringify(toLinterRules(), null, 2)}\n`);
