/** The simulated API server of `npm run bench -- control`, in a process of its own: it ends watches, and counts writes, when the bench asks. */
import { writeFileSync } from 'node:fs';
import { startKubeSimulator } from '@vmdhcp/kube-simulator';
import type { SimulatorAnswer, SimulatorRequest } from './large-cluster.js';

const simulator = await startKubeSimulator();
writeFileSync(process.argv[2] ?? '', simulator.kubeconfig(), { mode: 0o600 });
process.on('message', (request: SimulatorRequest) => {
  if (request === 'stop') {
    void simulator.stop().then(() => process.exit(0));
    return;
  }
  // As after an etcd compaction: clients cannot go on from where they were, and list everything.
  if (request === 'expire') {
    simulator.compact();
    simulator.disturbWatches('expire');
  }
  answer();
});
answer();

function answer(): void {
  process.send?.({ writes: simulator.resourceVersion } satisfies SimulatorAnswer);
}
