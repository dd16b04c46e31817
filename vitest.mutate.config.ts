import { defineConfig } from 'vitest/config';

/** The unit tests of one package, as `npm run mutate` runs them. */
export default defineConfig({
  test: {
    root: `packages/${process.env['VMDHCP_MUTATED_PACKAGE']}`,
    include: ['src/**/*.test.ts'],
    // Seconds a run: a mutant that only a random story notices counts as missed.
    exclude: [
      'src/**/random-stories.test.ts',
      'src/**/crash.test.ts',
      'src/**/agent-laws.test.ts',
      'src/**/topology-switch.test.ts',
    ],
    environment: 'node',
    pool: 'threads',
    isolate: false,
  },
});
