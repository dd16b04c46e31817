#!/usr/bin/env node
// Nothing is imported before the version is known to be one that the imports run on.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `vmdhcp-agent needs Node 22.19 or newer; this is Node ${process.versions.node}. Install a newer Node and start it again.\n`,
  );
  process.exit(78);
}

// A server allocates little that lives long: a small young generation and one helper thread save tens of megabytes and cost
// nothing. These can only be set when Node starts, so it is started again in place, as the same process.
const SMALL_MEMORY = [
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  '--optimize-for-size',
  '--disable-warning=ExperimentalWarning',
];
if (['serve', 'wol'].includes(process.argv[2]) && process.execArgv.length === 0 && process.env.NODE_OPTIONS === undefined) {
  process.execve?.(process.execPath, [process.execPath, ...SMALL_MEMORY, ...process.argv.slice(1)], process.env);
}

const { main } = await import('../program/main.js');
await main(process.argv);
