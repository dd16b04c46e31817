// npm run bench:admission: how long the rules of admission take for a decision, in this process.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['--expose-gc', 'tools/bench/dist/admission.js'], { stdio: 'inherit' });
process.exit(status ?? 130);
