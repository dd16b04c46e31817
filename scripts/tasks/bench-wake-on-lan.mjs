// npm run bench:wake-on-lan
await import('../../tools/bench/scripts/wake-on-lan.mjs');
