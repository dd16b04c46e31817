// The linter's import walls, tried: each forbidden import must be refused where it stands, each allowed one accepted.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const REFUSED = [
  ['packages/dhcp-allocator/src/pool/pool.ts', "import 'node:fs';"],
  ['packages/dhcp-allocator/src/pool/pool.ts', "import { z } from 'zod';\nexport const schema = z;"],
  ['packages/dhcp-allocator/src/pool/pool.ts', "export * from '@vmdhcp/ippool-api';"],
  ['packages/dhcp-allocator/src/pool/pool.ts', 'export const now = Date.now();'],
  ['packages/ippool-api/src/ip-pool.ts', "export * from '@vmdhcp/dhcp-allocator';"],
  ['packages/reconciler/src/pool/to-pool.ts', "export * from 'pino';"],
  ['packages/reconciler/src/pool/to-pool.ts', "export * from '@vmdhcp/ippool-api/src/labels.js';"],
  ['packages/agent-cli/src/main.ts', "export * from 'vmdhcp-controller';"],
  ['packages/agent-cli/src/main.ts', "export * from '@vmdhcp/lab';"],
  ['packages/agent-cli/src/main.ts', "export * from '@vmdhcp/dhcp-allocator/dist/index.js';"],
  ['packages/agent-cli/src/main.ts', "export * from '@vmdhcp/kube-simulator';"],
  ['packages/controller-cli/src/main.ts', "export * from 'vmdhcp-agent';"],
  ['packages/controller-cli/src/main.ts', "export * from '@vmdhcp/kube-simulator';"],
  ['packages/reconciler/src/controller/pool-reconciler.ts', "import 'node:https';"],
  ['packages/reconciler/src/controller/pool-reconciler.ts', "export * from '@kubernetes/client-node';"],
  ['packages/kube-runtime/src/node/index.ts', "export * from 'pino';"],
  ['packages/kube-runtime/src/cache/reflector.ts', "import 'node:https';"],
  ['packages/kube-runtime/src/cache/reflector.ts', "export * from '@vmdhcp/ippool-api';"],
  ['packages/kube-runtime/src/cache/reflector.ts', 'export const now = Date.now();'],
  ['packages/dhcp-agent/src/index.ts', "import 'node:fs';"],
  ['packages/dhcp-agent/src/index.ts', "export * from '@vmdhcp/linux-sockets';"],
  ['packages/dhcp-agent/src/index.ts', "export * from '@vmdhcp/service-process';"],
  ['packages/dhcp-agent/src/index.ts', "export * from '@vmdhcp/kube-runtime/node';"],
  ['packages/dhcp-agent/src/index.ts', 'export const now = performance.now();'],
  ['packages/linux-sockets/src/index.ts', "export * from '@vmdhcp/dhcp-allocator';"],
  ['packages/service-process/src/index.ts', "export * from '@vmdhcp/reconciler';"],
  ['tools/kube-simulator/src/index.ts', "export * from '@vmdhcp/ippool-api';"],
  ['tools/demo/src/main.ts', "export * from '@vmdhcp/lab/src/index.js';"],
];
const ACCEPTED = [
  ['packages/dhcp-allocator/src/pool/pool.ts', "export * from '../address/ipv4-address.js';"],
  ['packages/ippool-api/src/ip-pool.ts', "export { z } from 'zod';"],
  ['packages/reconciler/src/pool/to-pool.ts', "export * from '@vmdhcp/dhcp-allocator';"],
  ['packages/dhcp-agent/src/index.ts', "export * from '@vmdhcp/reconciler';"],
  ['packages/agent-cli/src/main.ts', "export * from '@vmdhcp/reconciler/plan-assignments';"],
  ['packages/agent-cli/src/main.ts', "export * from 'node:fs';"],
  ['packages/controller-cli/src/main.ts', "export * from '@vmdhcp/kube-runtime/node';"],
  ['packages/kube-runtime/src/node/index.ts', "export * from 'node:https';"],
];

const wrong = [
  ...REFUSED.filter(([path, code]) => isAccepted(path, code)),
  ...ACCEPTED.filter(([path, code]) => !isAccepted(path, code)),
];
for (const [path, code] of wrong) process.stdout.write(`not as it should be: in ${path}: ${code}\n`);
process.exit(wrong.length === 0 ? 0 : 1);

/** The linter judges by path: the code is put beside the file for a moment. */
function isAccepted(neighbour, code) {
  const path = join(dirname(neighbour), 'wall-under-test.ts');
  writeFileSync(path, `${code}\n`);
  try {
    return (
      spawnSync('biome', ['lint', '--only=style/noRestrictedImports', '--only=style/noRestrictedGlobals', path]).status === 0
    );
  } finally {
    rmSync(path);
  }
}
