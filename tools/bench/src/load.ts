// Run inside a machine of the bench: `node load.js SETTINGS` prints a LoadResult. Both are JSON.
import { generateLoad, type LoadSettings } from './load-generator.js';

process.stdout.write(`${JSON.stringify(generateLoad(JSON.parse(process.argv[2] ?? '{}') as LoadSettings))}\n`);
