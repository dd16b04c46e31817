// npm test -- recordings [DIR]: replays recordings of a real API server against the simulator.
await import('../../tools/kube-simulator/dist/recordings/main.js');
