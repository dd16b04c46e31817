// npm run bench:webhook: a simulated API server and the load in one process, the webhook in another, on loopback; a number is the seconds.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/webhook.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
