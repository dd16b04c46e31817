import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface KubectlAccess {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** The program; by default the one of the path. */
  readonly program?: string;
}

export interface KubectlOutput {
  readonly code: number;
  readonly stdout: string;
  /** Refusals and warnings, as a user sees them. */
  readonly stderr: string;
}

/** True if kubectl is there, and new enough for `--dry-run=server` of custom resources: before 1.22 it asks for definitions of v1beta1. */
export function hasDryRun(program = 'kubectl'): boolean {
  const { stdout } = spawnSync(program, ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
  const minor = /"minor": "(\d+)/.exec(stdout ?? '')?.[1];
  return minor !== undefined && Number(minor) >= 22;
}

/** Runs kubectl, not synchronously: the API server may be in this process. @param input - manifests for `-f -`. */
export async function runKubectl(
  { kubeconfig, namespace, program = 'kubectl' }: KubectlAccess,
  words: readonly string[],
  input = '',
): Promise<KubectlOutput> {
  const child = spawn(program, ['--kubeconfig', kubeconfig, '-n', namespace, ...words], { timeout: 60_000 });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: (code as number | null) ?? 1, stdout, stderr };
}
