import { rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { type KubeSimulatorOptions, startKubeSimulator } from './kube-simulator.js';

interface Flags {
  readonly port: string;
  readonly host: string;
  readonly kubeconfig?: string;
  readonly nodes: string;
  readonly tls: boolean;
}

const examples = `
Examples:
  $ kube-simulator --kubeconfig /tmp/kubeconfig &
  $ kubectl --kubeconfig /tmp/kubeconfig apply -f packages/ippool-api/crds/
  $ kubectl --kubeconfig /tmp/kubeconfig get ippools -A --watch

  Pods that are scheduled and become ready:
  $ kube-simulator --nodes 3 --kubeconfig /tmp/kubeconfig &
  $ kubectl create deployment web --image=web:1 --replicas=2 --dry-run=client -o yaml | kubectl --kubeconfig /tmp/kubeconfig apply -f -

It reads and writes JSON and YAML, and no protocol buffers: newer versions of "kubectl create deployment" send those.`;

/** Serves until SIGTERM or SIGINT. */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('kube-simulator')
    .description('A small Kubernetes API server for tests and demos.')
    .option('--port <number>', 'port to listen on; 0: any free one', '0')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--kubeconfig <file>', "where to write the administrator's kubeconfig (mode 0600)")
    .option('--nodes <number>', 'Nodes that run Pods (nothing is really started)', '0')
    .option('--no-tls', 'plain HTTP')
    .addHelpText('after', examples);
  program.parse(args, { from: 'user' });
  const flags = program.opts<Flags>();
  const simulator = await startKubeSimulator(optionsOf(flags));
  if (flags.kubeconfig !== undefined) writePrivate(flags.kubeconfig, simulator.kubeconfig());
  process.stdout.write(`${simulator.url}\n`);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
  await stopped;
  await simulator.stop();
}

/** Writing to an existing file does not change its mode. */
function writePrivate(file: string, content: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, content, { mode: 0o600 });
}

function optionsOf(flags: Flags): KubeSimulatorOptions {
  const port = Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port ${flags.port} is not a port; give a number from 0 to 65535`);
  }
  const count = Number(flags.nodes);
  if (!Number.isInteger(count) || count < 0 || count > 100) {
    throw new Error(`--nodes ${flags.nodes} is not a number of Nodes; give one from 0 to 100`);
  }
  const nodes = Array.from({ length: count }, (_, index) => ({ name: `node-${index + 1}` }));
  return { port, host: flags.host, tls: flags.tls, nodes };
}
