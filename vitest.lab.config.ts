import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests with real interfaces and real clients. Files that run at the same time do so in namespaces of their own (`npm test -- lab`). */
export default defineConfig({
  // The lab as it was built.
  resolve: { alias: [{ find: /^\.\.\/src\/(.*)$/, replacement: fileURLToPath(new URL('tools/lab/dist/$1', import.meta.url)) }] },
  test: {
    include: ['tools/lab/tests/**/*.lab.test.ts'],
    environment: 'node',
    tags: [{ name: 'nightly', description: 'Variants of what a test of each change shows.' }],
    fileParallelism: false,
    pool: 'forks',
    // What is built is loaded as programs load it: transforming it again took seconds of each file.
    server: { deps: { external: [/\/(?:packages|tools)\/[^/]+\/dist\//] } },
    // What hangs is found; a busy machine with two processors breaks nothing.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
