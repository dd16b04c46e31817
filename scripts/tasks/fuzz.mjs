// npm run fuzz
await import('../../tools/bench/scripts/fuzz.mjs');
