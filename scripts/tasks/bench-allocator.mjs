// npm run bench:allocator
await import('../../tools/bench/scripts/allocator.mjs');
