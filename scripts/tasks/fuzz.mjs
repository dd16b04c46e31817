// npm run fuzz
await import('../../packages/bench/scripts/fuzz.mjs');
