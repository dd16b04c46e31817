/** `kubectl vmdhcp`: Debian's kubectl, with the plugin of this checkout in its path. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubectlOutput } from './kubectl.js';
import { LabProcess } from './lab-process.js';
import { PLUGIN_BIN } from './programs.js';
import type { PluginCall } from './run-plugin-calls.js';

const CALLS = fileURLToPath(new URL('run-plugin-calls.js', import.meta.url));
/** They end by a signal, or write octets: each has a process of its own. */
const ENDLESS = ['capture', '--watch', '-w'];

export class KubectlPlugin {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vmdhcp-plugin-'));
  #calls: ChildProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The plugin writes into a pipe. */
  readonly #colour: Readonly<Record<string, string>>;

  constructor({ hasColour = false }: { readonly hasColour?: boolean } = {}) {
    this.#colour = hasColour ? { FORCE_COLOR: '1', NO_COLOR: '' } : { NO_COLOR: '1' };
    symlinkSync(PLUGIN_BIN, join(this.#folder, 'kubectl-vmdhcp'));
  }

  /** The variable PATH with which kubectl finds the plugin, and the plugin this Node. */
  get path(): string {
    return [this.#folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  }

  /** Runs `kubectl vmdhcp WORDS`; without kubectl what it would run. Not synchronously: the API server may be in this process. */
  async run(kubeconfig: string, words: readonly string[], by: 'kubectl' | 'itself' = 'itself'): Promise<KubectlOutput> {
    if (by === 'itself' && !words.some((word) => ENDLESS.includes(word))) return await this.#call({ kubeconfig, words });
    const env = { ...this.#env, KUBECONFIG: kubeconfig };
    const [program, first] = by === 'kubectl' ? ['kubectl', ['vmdhcp']] : [join(this.#folder, 'kubectl-vmdhcp'), []];
    const child = spawn(program, [...first, ...words], { env, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: (code as number | null) ?? 1, stdout, stderr };
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, PATH: this.path, ...this.#colour };
  }

  /** One call after the other, in one process for all of them. */
  #call(call: PluginCall): Promise<KubectlOutput> {
    const answer = this.#last.then(async () => {
      this.#calls ??= fork(CALLS, { env: this.#env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      const ended = once(this.#calls, 'exit').then(([code]) => {
        throw new Error(`kubectl vmdhcp ${call.words.join(' ')} ended its process: ${code}`);
      });
      this.#calls.send(call);
      const [output] = await Promise.race([once(this.#calls, 'message'), ended]);
      return output as KubectlOutput;
    });
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Starts the plugin, for commands that keep running. */
  start(kubeconfig: string, words: readonly string[]): LabProcess {
    const env = { PATH: this.path, KUBECONFIG: kubeconfig, ...this.#colour };
    return new LabProcess(join(this.#folder, 'kubectl-vmdhcp'), words, { env });
  }

  /** Writes a kubeconfig; returns its path. @param name - of its file. */
  write(kubeconfig: string, name = 'kubeconfig'): string {
    const path = join(this.#folder, name);
    writeFileSync(path, kubeconfig, { mode: 0o600 });
    return path;
  }

  close(): void {
    this.#calls?.kill();
    rmSync(this.#folder, { recursive: true });
  }
}
