// npm run generate: files that are made from source and committed.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['scripts/write-crds.mjs'], { cwd: 'packages/ippool-api', stdio: 'inherit' });
process.exit(status ?? 1);
