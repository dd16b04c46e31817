// npm run bench:why: a simulated API server, and the plugin as a process, on loopback.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/why.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
