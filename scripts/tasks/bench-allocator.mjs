// npm run bench:allocator
await import('../../packages/bench/scripts/allocator.mjs');
