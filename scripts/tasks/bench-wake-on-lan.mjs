// npm run bench:wake-on-lan: packets and lists in this process, then an agent and its manager in namespaces of their own. With --agent only these, with --cluster
// ten nodes instead.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const isCluster = process.argv.includes('--cluster');
if (!isCluster && !process.argv.includes('--agent')) await import('../../tools/bench/scripts/wake-on-lan.mjs');
const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`agents cannot be measured: ${reason}\n`);
  process.exit(69);
}
const program = `tools/bench/dist/${isCluster ? 'wake-cluster' : 'wake-agent'}.js`;
process.exit(runInNamespaces(way, process.execPath, [program, ...process.argv.slice(2)]).status ?? 130);
