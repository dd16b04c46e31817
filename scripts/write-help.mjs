// What `npm run demo -- --help` prints before anything is installed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/demo/dist/main.js', '--help'], { encoding: 'utf8' });
if (status !== 0) throw new Error(stderr);
writeFileSync('scripts/help/demo.txt', `${stdout.trimEnd()}\n`);
