// npm run bench:allocator: the pure library, in this process: decisions, the codec, allocation and the lease table.
await import('../../tools/bench/scripts/allocator.mjs');
