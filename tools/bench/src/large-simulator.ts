/** The simulated API server of `npm run bench -- large`, in a process of its own: it ends watches, and counts writes, when the bench asks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type ExecInPod, startKubeSimulator } from '@vmdhcp/kube-simulator';
import type { SimulatorAnswer, SimulatorRequest } from './large-cluster.js';

/** Stands for `vmdhcp-agent clients --json --mac MAC` in a pod: as there, a process of Node. */
const PRINT_CLIENT = `
const [mac] = process.argv.slice(-1);
const last = [{ atMs: Date.now(), received: 'REQUEST', from: '0.0.0.0', answer: 'ACK 10.0.0.10', reason: null }];
console.log(JSON.stringify({ agent: 'agent-1', sinceMs: 0, clients: [{ mac, messages: { REQUEST: 1 }, lastAtMs: Date.now(), last }] }));`;

const execInPod: ExecInPod = ({ command }) => {
  const child = spawn(process.execPath, ['-e', PRINT_CLIENT, '--', command.at(-1) ?? ''], { stdio: 'pipe' });
  const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137);
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: () => child.kill('SIGKILL') };
};

const simulator = await startKubeSimulator({ execInPod });
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
