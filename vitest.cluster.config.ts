import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** On a cluster that others use too, the files run one after the other. */
const simulated = process.env.VMDHCP_TEST_KUBECONFIG === undefined;

/** Tests against an API server: the one of KUBECONFIG where `npm test -- cluster` finds one set, else a simulated one. */
export default defineConfig({
  // The lab as it was built.
  resolve: { alias: [{ find: /^\.\.\/src\/(.*)$/, replacement: fileURLToPath(new URL('tools/lab/dist/$1', import.meta.url)) }] },
  test: {
    include: ['tools/lab/tests/**/*.cluster.test.ts'],
    environment: 'node',
    tags: [{ name: 'nightly', description: 'Variants of what a test of each change shows.' }],
    fileParallelism: simulated,
    // One more than there are processors: all of them wait now and then.
    maxWorkers: Math.min(availableParallelism() + 1, 4),
    pool: 'forks',
    // The modules of the lab take a second of a processor to load: each worker does it once.
    isolate: false,
    // What is built is loaded as programs load it: transforming it again took seconds of each file.
    server: { deps: { external: [/\/(?:packages|tools)\/[^/]+\/dist\//] } },
    // Of tests that run at the same time: each has an API server and programs of its own.
    maxConcurrency: 2,
    // What hangs is found; a busy machine with two processors breaks nothing.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
