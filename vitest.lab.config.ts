import { defineConfig } from 'vitest/config';

/** Tests with real interfaces and real clients. Files that run at the same time do so in namespaces of their own (`npm run test:lab`). */
export default defineConfig({
  test: {
    include: ['tools/lab/tests/**/*.lab.test.ts'],
    environment: 'node',
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
