#!/usr/bin/env node
// kubectl finds this program by its name and runs it as `kubectl vmdhcp`. Nothing is imported before the version is known to be one that the imports
// run on.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `kubectl vmdhcp needs Node 22.19 or newer; this is Node ${process.versions.node}. Install a newer Node and start it again.\n`,
  );
  process.exit(78);
}

const { main } = await import('../program/main.js');
await main(process.argv);
