// Which package may import which, and in which order the folders of a package stand: a folder imports only folders that stand before it in
// its list, and of the files beside the folders only those that the list names before it. `npm run generate` writes the linter's rules (biome.walls.json) from this table.

/** A pure package: no clock, randomness, I/O or module of Node. */
const PURE = { pure: true };

export const PACKAGES = {
  'packages/dhcp-allocator': {
    ...PURE,
    imports: [],
    why: 'it is pure and stands alone',
    folders: [
      'problem',
      'address',
      'wire',
      'pool',
      'lease',
      'allocation',
      'binding',
      'isc-leases',
      'options',
      'server',
      'prepared',
      'open',
    ],
  },
  'packages/ippool-api': {
    ...PURE,
    imports: ['zod'],
    why: 'it is pure: what Kubernetes stores, and what the controller and the agents write for each other',
    folders: [
      'labels',
      'allocated-marks',
      'network-key',
      'reasons',
      'text-formats',
      'agent',
      'formats',
      'range-rules',
      'condition',
      'object-meta',
      'custom-resource',
      'parse-by-kind',
      'bare-metal',
      'manifests',
    ],
    /** Reads text: the only folder that needs a parser. */
    edges: { manifests: ['yaml'] },
  },
  'packages/kube-runtime': {
    ...PURE,
    imports: [],
    why: 'it stands alone; adapters have subpaths of their own',
    folders: ['object', 'clock', 'api', 'cache', 'queue', 'election', 'events', 'apply', 'parts', 'node', 'testing'],
    /** Folders that may import more, and are not pure. */
    edges: { node: ['node:*', 'node:*/*', '@kubernetes/client-node'] },
  },
  'packages/reconciler': {
    ...PURE,
    imports: [
      '@vmdhcp/dhcp-allocator',
      '@vmdhcp/ippool-api',
      '@vmdhcp/host-inventory',
      '@vmdhcp/ippool-api/agent',
      '@vmdhcp/ippool-api/bare-metal/keys',
      '@vmdhcp/kube-runtime',
      '@vmdhcp/wake-on-lan',
    ],
    why: 'it is pure: plans, and a controller on the ports of kube-runtime',
    folders: [
      'resources',
      'explanation',
      'pool',
      'network',
      'virtual-machine',
      'network-config',
      'audit',
      'assignment',
      'agents',
      'chain',
      'host-chain',
      'uninstall',
      'view',
      'admission',
      'migration',
      'wake-on-lan',
      'bare-metal',
      'controller',
    ],
  },
  'packages/dhcp-agent': {
    ...PURE,
    imports: ['@vmdhcp/dhcp-allocator', '@vmdhcp/ippool-api/agent', '@vmdhcp/kube-runtime', '@vmdhcp/reconciler/pool'],
    why: 'it is pure: an agent on ports',
    folders: [
      'every',
      'limits',
      'agent-event',
      'traffic',
      'capture',
      'ports',
      'probe',
      'silence',
      'server',
      'pool',
      'interface',
      'leadership',
      'agent',
      'node',
      'testing',
    ],
    /** Folders that may import more, and are not pure. */
    edges: { node: ['@vmdhcp/ippool-api/agent', '@vmdhcp/kube-runtime', '@vmdhcp/kube-runtime/node'] },
  },
  'packages/service-certificates': {
    ...PURE,
    imports: ['@vmdhcp/kube-runtime'],
    why: 'it is pure: plans of certificates on ports; adapters have a subpath of their own',
    folders: ['plan', 'ports', 'pem', 'authority-secret', 'node'],
    /** Folders that may import more, and are not pure. */
    edges: { node: ['node:*', 'node:*/*', '@vmdhcp/kube-runtime', '@peculiar/x509', 'reflect-metadata'] },
  },
  'packages/wake-on-lan': {
    ...PURE,
    imports: ['@vmdhcp/dhcp-allocator/address'],
    why: 'it is pure: packets, and who may be woken',
    folders: ['packet', 'window', 'machine', 'listen', 'report'],
  },
  'packages/wol-service': {
    ...PURE,
    imports: ['@vmdhcp/wake-on-lan'],
    why: 'of the rest it knows reports and their answers: messages and the following of the leader are pure, gRPC and TLS have folders of their own',
    folders: ['report', 'wire', 'following', 'proto', 'tls', 'client', 'server'],
    /** Folders that may import more, and are not pure. */
    edges: {
      proto: ['node:*', '@grpc/grpc-js', '@grpc/proto-loader'],
      tls: ['node:*', 'node:*/*'],
      client: ['node:*', '@grpc/grpc-js', '@vmdhcp/wake-on-lan'],
      server: ['node:*', '@grpc/grpc-js', '@vmdhcp/wake-on-lan'],
    },
  },
  'packages/redfish-client': {
    ...PURE,
    imports: [],
    why: 'it knows nothing of Kubernetes or DHCP: what is read and sent are values, HTTP and the client have folders of their own',
    folders: ['error', 'target', 'resource', 'report', 'action', 'http', 'client'],
    /** Folders that may import more, and are not pure. Times of log entries are read with `Date.parse`. */
    edges: { report: [], http: ['node:*'], client: [] },
  },
  'packages/status-page': {
    ...PURE,
    imports: [
      '@vmdhcp/dhcp-allocator',
      '@vmdhcp/ippool-api',
      '@vmdhcp/ippool-api/agent',
      '@vmdhcp/ippool-api/bare-metal/keys',
      '@vmdhcp/kube-runtime',
      '@vmdhcp/reconciler/pool',
      '@vmdhcp/reconciler/chain',
      '@vmdhcp/reconciler/host-chain',
    ],
    why: 'data of the page is pure; HTTP and the browser have folders of their own',
    folders: ['model', 'browser', 'reason', 'pool', 'lists', 'source', 'live', 'access', 'http'],
    /** Folders that may import more. The browser loads `model` and itself alone; neither needs another package. */
    edges: { browser: [], http: ['node:*', 'node:*/*', '@vmdhcp/kube-runtime', '@vmdhcp/service-process'] },
  },
  'packages/host-inventory': {
    ...PURE,
    imports: [
      '@vmdhcp/dhcp-allocator/address',
      '@vmdhcp/ippool-api/bare-metal',
      '@vmdhcp/ippool-api/bare-metal/keys',
      '@vmdhcp/kube-runtime',
    ],
    why: 'it is pure: addresses, objects, and the names of the kinds',
    folders: ['object', 'host', 'check', 'health', 'inventory', 'binding', 'operation'],
  },
  'packages/host-agent': {
    ...PURE,
    imports: [
      '@vmdhcp/dhcp-allocator/address',
      '@vmdhcp/host-inventory',
      '@vmdhcp/ippool-api/bare-metal',
      '@vmdhcp/ippool-api/bare-metal/keys',
      '@vmdhcp/kube-runtime',
    ],
    why: 'it is pure: hosts on ports',
    folders: ['host-agent-event', 'ports', 'objects', 'inventory', 'secret', 'health', 'operation', 'agent'],
  },
  'packages/linux-sockets': {
    imports: ['node:*', 'node:*/*', 'koffi'],
    why: 'it knows nothing of DHCP or Kubernetes',
    folders: [
      'libc',
      'capabilities',
      'ethernet',
      'netlink',
      'packet',
      'frames',
      'tcp',
      'udp',
      'arp',
      'links',
      'addresses',
      'routes',
      'isolation',
    ],
  },
  'packages/service-process': {
    imports: ['node:*', 'node:*/*', 'pino', 'pino-pretty', 'prom-client', 'commander', 'koffi'],
    why: 'it knows nothing of DHCP or Kubernetes',
  },
  'packages/agent-cli': {
    imports: [
      '@vmdhcp/*',
      '@vmdhcp/*/*',
      '@vmdhcp/ippool-api/bare-metal/keys',
      'node:*',
      'node:*/*',
      'commander',
      'pino',
      'prom-client',
      'yaml',
      '@kubernetes/client-node',
    ],
    refused: ['@vmdhcp/lab', '@vmdhcp/bench', '@vmdhcp/demo', '@vmdhcp/kube-simulator'],
    why: 'a command line imports libraries: no other command line and no test support',
    folders: [
      'log',
      'pools-file',
      'probe',
      'state',
      'bindings',
      'binding-objects',
      'http',
      'control',
      'cluster',
      'bare-host',
      'wake-on-lan',
      'hosts',
      'actions',
      'commands',
    ],
  },
  'packages/controller-cli': {
    imports: [
      '@vmdhcp/*',
      '@vmdhcp/*/*',
      '@vmdhcp/ippool-api/bare-metal/keys',
      'node:*',
      'node:*/*',
      'commander',
      'pino',
      'prom-client',
      'ws',
      'yaml',
      '@kubernetes/client-node',
    ],
    refused: [
      '@vmdhcp/lab',
      '@vmdhcp/bench',
      '@vmdhcp/demo',
      '@vmdhcp/kube-simulator',
      '@vmdhcp/dhcp-agent',
      '@vmdhcp/linux-sockets',
    ],
    why: 'a command line imports libraries: no other command line and no test support',
    folders: [
      'check',
      'webhook',
      'run',
      'pod-exec',
      'inspect',
      'wake-on-lan',
      'bare-metal',
      'status-page',
      'actions',
      'commands',
    ],
  },
  'tools/kube-simulator': {
    everything: true,
    refused: ['@vmdhcp/**', 'vmdhcp-*'],
    why: 'it imports nothing of ours: CRDs are applied to it as to any cluster',
    folders: [
      'schema',
      'patch',
      'store',
      'resources',
      'request',
      'api',
      'auth',
      'admission',
      'controllers',
      'exec',
      'aggregation',
      'http',
      'recordings',
      'contract',
    ],
  },
  'tools/lab': { everything: true, refused: [], why: 'import a package by what it exports' },
  'tools/demo': { everything: true, refused: [], why: 'import a package by what it exports' },
  'tools/images': { everything: true, refused: [], why: 'import a package by what it exports' },
  'tools/world': {
    everything: true,
    refused: [],
    why: 'import a package by what it exports',
    folders: ['time', 'network', 'guests', 'api', 'planted-faults', 'wake', 'cluster', 'auditor', 'story', 'informers'],
  },
  'tools/bench': { everything: true, refused: [], why: 'import a package by what it exports' },
};

const IMPURE_GLOBALS = [
  'Date',
  'process',
  'console',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'crypto',
  'Buffer',
];
const INSIDES = ['@vmdhcp/*/src/**', '@vmdhcp/*/dist/**', 'vmdhcp-*/src/**', 'vmdhcp-*/dist/**'];
const OTHER_EXPORTS = ['**', '!./**', '!../**'];

/** The linter's configuration. */
export function toLinterRules() {
  return { overrides: Object.entries(PACKAGES).flatMap(([path, one]) => packageOverrides(path, one)) };
}

function packageOverrides(path, one) {
  const whole = override([`${path}/src/**`], { path, one, imports: one.imports, isPure: one.pure === true, refused: [] });
  const folders = (one.folders ?? []).flatMap((folder, index) => {
    const edge = one.edges?.[folder];
    const rules = {
      path,
      one,
      imports: edge ?? one.imports,
      isPure: one.pure === true && edge === undefined,
      refused: refusedPaths(one.folders, index),
    };
    return [override([`${path}/src/${folder}/**`], rules)];
  });
  return [whole, ...folders];
}

/** Paths that files of a folder must not import: folders that stand later in the list, and files beside the folders that it does not name. */
function refusedPaths(folders, index) {
  const later = folders.slice(index + 1).flatMap((name) => [`../${name}/**`, `../../${name}/**`, `../${name}.js`]);
  return [...later, '../index.js', '../../index.js', '../main.js'];
}

function override(includes, { path, one, imports, isPure, refused }) {
  const name = path.split('/')[1];
  const patterns = [{ group: INSIDES, message: 'Import a package by what it exports.' }];
  if (one.everything !== true)
    patterns.push({ group: [...OTHER_EXPORTS, ...imports.map((allowed) => `!${allowed}`)], message: `${name}: ${one.why}.` });
  if (one.refused?.length > 0) patterns.push({ group: one.refused, message: `${name}: ${one.why}.` });
  if (refused.length > 0)
    patterns.push({
      group: refused,
      message: `A folder of ${name} imports only folders that stand before it: scripts/walls.mjs.`,
    });
  return {
    includes: [...includes, '!**/*.test.ts', '!**/*-fixtures.ts'],
    linter: {
      rules: {
        style: {
          noRestrictedImports: { level: 'error', options: { patterns } },
          ...(isPure && { noRestrictedGlobals: { level: 'error', options: { deniedGlobals: deniedGlobals() } } }),
          ...(!isPure && { noRestrictedGlobals: 'off' }),
        },
      },
    },
  };
}

function deniedGlobals() {
  return Object.fromEntries(
    IMPURE_GLOBALS.map((name) => [name, 'Pure packages take time, randomness and I/O as values or ports.']),
  );
}
