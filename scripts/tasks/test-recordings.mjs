// npm run test:recordings -- DIR
await import('../../packages/kube-simulator/dist/recordings/main.js');
