import { defineConfig } from 'vitest/config';

/** Tests with real interfaces and real clients. Files that run at the same time do so in namespaces of their own (`npm run test:lab`). */
export default defineConfig({
  test: {
    include: ['tools/lab/tests/**/*.lab.test.ts'],
    environment: 'node',
    fileParallelism: false,
    pool: 'forks',
    // What hangs is found; a busy machine with two processors breaks nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
