// npm run bench:control [-- COUNT...]: how long virtual machines that are created at once (1, 1000 and 10000 unless you name other numbers) wait for their addresses. A
// simulated API server and the controller, each in a process of its own, on loopback; then agents in namespaces of their own.
import { spawnSync } from 'node:child_process';
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { status } = spawnSync(process.execPath, ['tools/bench/dist/control.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`times on the wire are not measured: ${reason}\n`);
  process.exit(69);
}
process.exit(runInNamespaces(way, process.execPath, ['tools/bench/dist/control-latency.js']).status ?? 130);
