// npm run bench:images: programs out of their images, in namespaces of root's.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces({ asRoot: true });
if (way === undefined) {
  process.stderr.write(`images cannot be measured: ${reason}\n`);
  process.exit(69);
}
process.exit(runInNamespaces(way, process.execPath, ['tools/bench/dist/images.js', ...process.argv.slice(2)]).status ?? 130);
