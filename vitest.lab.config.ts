import { defineConfig } from 'vitest/config';

/** Tests with real interfaces and real clients: one after the other, as they share two processors and one network stack. */
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
