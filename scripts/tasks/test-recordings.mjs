// npm run test:recordings -- DIR
await import('../../tools/kube-simulator/dist/recordings/main.js');
