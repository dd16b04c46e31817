// npm run bench:large: a simulated API server, the controller and the bench, each a process of its own, on loopback.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/large.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
