// npm run bench:agents: agents in pods, in namespaces of their own.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`agents cannot be measured: ${reason}\n`);
  process.exit(69);
}
process.exit(runInNamespaces(way, process.execPath, ['tools/bench/dist/agents.js', ...process.argv.slice(2)]).status ?? 130);
