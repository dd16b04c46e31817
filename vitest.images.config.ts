import { defineConfig } from 'vitest/config';

/** The images as they are built: what is in them, and the programs run out of them by crun. */
export default defineConfig({
  test: {
    include: ['tools/images/tests/**/*.test.ts'],
    globalSetup: ['tools/images/tests/global-setup.ts'],
    environment: 'node',
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
