/** `kubectl vmdhcp`: Debian's kubectl, with the plugin of this checkout in its path. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { KubectlOutput } from './kubectl.js';
import { LabProcess } from './lab-process.js';
import { PLUGIN_BIN } from './programs.js';

export class KubectlPlugin {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vmdhcp-plugin-'));
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

  /** Runs `kubectl vmdhcp WORDS`; without kubectl the program that it would run. Not synchronously: the API server may be in this process. */
  async run(kubeconfig: string, words: readonly string[], by: 'kubectl' | 'itself' = 'itself'): Promise<KubectlOutput> {
    const env = { ...process.env, PATH: this.path, KUBECONFIG: kubeconfig, ...this.#colour };
    const [program, first] = by === 'kubectl' ? ['kubectl', ['vmdhcp']] : [join(this.#folder, 'kubectl-vmdhcp'), []];
    const child = spawn(program, [...first, ...words], { env, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: (code as number | null) ?? 1, stdout, stderr };
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
    rmSync(this.#folder, { recursive: true });
  }
}
