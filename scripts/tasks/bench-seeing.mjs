// npm run bench:seeing: the packet path with and without what it notes, in namespaces of their own.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`the packet path cannot be measured: ${reason}\n`);
  process.exit(69);
}
process.exit(runInNamespaces(way, process.execPath, ['tools/bench/dist/seeing.js', ...process.argv.slice(2)]).status ?? 130);
