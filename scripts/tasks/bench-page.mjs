// npm run bench:page: the server of the page and the bench, each a process of its own, on loopback.
import { spawnSync } from 'node:child_process';

process.exit(
  spawnSync(process.execPath, ['tools/bench/dist/page.js', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 130,
);
