import { defineConfig } from 'vitest/config';

/** Tests against an API server: the one of KUBECONFIG where `npm run test:cluster` finds one set, else a simulated one. */
export default defineConfig({
  test: {
    include: ['tools/lab/tests/**/*.cluster.test.ts'],
    environment: 'node',
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
