#!/usr/bin/env node
// Nothing is imported before the version is known to be one that the imports run on.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `vmdhcp-controller needs Node 22.19 or newer; this is Node ${process.versions.node}. Install a newer Node and start it again.\n`,
  );
  process.exit(78);
}

// Answers of the API server are read and forgotten: a small young generation and one helper thread save a hundred megabytes, and
// --optimize-for-size has idle memory returned. With it alone the heap grows in steps of some megabytes, whatever its size, and each step costs
// a collection of all of it; half of its size at a time costs the same for each object in a cluster of any size (docs/decisions/0005).
// These can only be set when Node starts, so it is started again in place, as the same process.
const FLAGS = {
  run: ['--max-semi-space-size=1', '--optimize-for-size', '--heap-growing-percent=50'],
  // A decision must not wait for a heap that is compacted.
  webhook: ['--max-semi-space-size=4'],
};
const flags = FLAGS[process.argv[2]];
if (flags !== undefined && process.execArgv.length === 0 && process.env.NODE_OPTIONS === undefined) {
  const all = [...flags, '--v8-pool-size=1', '--disable-warning=ExperimentalWarning'];
  process.execve?.(process.execPath, [process.execPath, ...all, ...process.argv.slice(1)], process.env);
}

const { main } = await import('../program/main.js');
await main(process.argv);
