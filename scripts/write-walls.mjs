// Writes biome.walls.json from the table of walls; `scripts/check-import-walls.mjs` fails when the file is not what this would write.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toLinterRules } from './walls.mjs';

const file = fileURLToPath(new URL('../biome.walls.json', import.meta.url));
writeFileSync(file, `${JSON.stringify(toLinterRules(), null, 2)}\n`);
process.exitCode = spawnSync('biome', ['format', '--write', file], { stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1;
