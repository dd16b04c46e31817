// npm run bench:admission
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['--expose-gc', 'tools/bench/dist/admission.js'], { stdio: 'inherit' });
process.exit(status ?? 130);
