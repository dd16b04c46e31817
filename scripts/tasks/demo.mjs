// npm run demo: everything happens in namespaces of its own.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces();
if (way === undefined) {
  process.stderr.write(`the demo cannot run: ${reason}\n`);
  process.exit(69);
}
// Ctrl-C goes to the whole terminal group: the demo cleans up, and this process waits for it.
process.on('SIGINT', () => undefined);
const { status } = runInNamespaces(way, process.execPath, ['tools/demo/dist/main.js', ...process.argv.slice(2)]);
process.exit(status ?? 130);
