// npm run bench:hosts: a simulated API server in a process of its own, and the agent of bare-metal hosts, on loopback.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/hosts.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
