// npm run bench: everything happens in namespaces of its own.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`the bench cannot run: ${reason}\n`);
  process.exit(69);
}
const { status } = runInNamespaces(way, process.execPath, ['tools/bench/dist/main.js', ...process.argv.slice(2)]);
process.exit(status ?? 130);
