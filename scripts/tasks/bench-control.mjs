// npm run bench:control: a simulated API server and the controller, each in a process of its own, on loopback.
await import('../../packages/bench/dist/control.js');
