// npm run bench:leases: servers that record leases on a disk, in namespaces of their own.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

const { way, reason } = findNamespaces({ preferRoot: true });
if (way === undefined) {
  process.stderr.write(`leases cannot be measured: ${reason}\n`);
  process.exit(69);
}
process.exit(runInNamespaces(way, process.execPath, ['tools/bench/dist/leases.js', ...process.argv.slice(2)]).status ?? 130);
