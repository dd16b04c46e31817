#!/usr/bin/env node
// Nothing is imported before the version is known to be one that the imports run on.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `kube-simulator needs Node 22.19 or newer; this is Node ${process.versions.node}. Put the Node of this workspace first: export PATH=$PWD/node_modules/.bin:$PATH\n`,
  );
  process.exit(78);
}

const { main } = await import('../dist/main.js');

await main(process.argv.slice(2));
