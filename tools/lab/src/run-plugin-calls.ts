/** A process that runs the calls of `kubectl vmdhcp` which it receives, one after the other: a short command takes less than the start of its program. */
import { dirname, join } from 'node:path';
import type { KubectlOutput } from './kubectl.js';
import { PLUGIN_BIN } from './programs.js';

export interface PluginCall {
  readonly kubeconfig: string;
  readonly words: readonly string[];
}

type Main = (argv: readonly string[]) => Promise<void>;

const { main } = (await import(join(dirname(PLUGIN_BIN), '..', 'program', 'main.js'))) as { readonly main: Main };
let last = Promise.resolve();

// Some seconds after a failure, the plugin ends its process, as there is one call for each.
process.exit = (() => undefined) as never;

process.on('message', (call: PluginCall) => {
  last = last.then(async () => {
    process.send?.(await run(call));
  });
});

async function run({ kubeconfig, words }: PluginCall): Promise<KubectlOutput> {
  process.env['KUBECONFIG'] = kubeconfig;
  const [stdout, stderr] = [collect(process.stdout), collect(process.stderr)];
  try {
    await main([process.execPath, PLUGIN_BIN, ...words]);
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = undefined;
    // The plugin adds one, as there is one call for each process.
    process.stdout.removeAllListeners('error');
    stdout.end();
    stderr.end();
  }
}

/** Keeps what is written to a stream, until it is told to end. */
function collect(stream: NodeJS.WriteStream): { readonly text: () => string; readonly end: () => void } {
  const write = stream.write.bind(stream);
  let written = '';
  stream.write = (piece: string | Uint8Array) => {
    written += typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8');
    return true;
  };
  return {
    text: () => written,
    end: () => {
      stream.write = write;
    },
  };
}
