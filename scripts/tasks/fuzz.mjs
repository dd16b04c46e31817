// npm run fuzz [-- PACKETS]: mutated packets for the codec and for the server's decisions, in this process; a hundred million unless you name another number.
await import('../../tools/bench/scripts/fuzz.mjs');
