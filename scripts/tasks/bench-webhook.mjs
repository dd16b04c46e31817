// npm run bench:webhook [-- SECONDS]: decisions of the webhook over TLS. A simulated API server and the load in one process, the webhook in another, on loopback; 20 seconds
// unless you name another number.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/webhook.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
