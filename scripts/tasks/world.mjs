// npm run world: stories in simulated time, and what an auditor found in them.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['tools/world/dist/main.js', ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 130);
