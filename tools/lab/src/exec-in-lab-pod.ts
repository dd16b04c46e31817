/** Commands in pods of the lab: the real program, in the network namespace of its pod and with the environment of its container. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AGENT_PROGRAM } from '@vmdhcp/ippool-api/agent';
import type { ExecProcess, ExecRequest } from '@vmdhcp/kube-simulator';
import type { LabPod } from './lab-pod.js';
import type { LabProcess } from './lab-process.js';
import { AGENT_BIN } from './programs.js';
import { SYSTEM_PATH } from './real-program.js';

/** Runs a command beside the program of a container of a pod. */
export type ExecInContainer = (container: LabProcess, command: readonly string[]) => ExecProcess;

/** @throws Error if the pod is not a pod of the lab, or does not have the program. */
export function execInLabPod(
  pods: ReadonlyMap<string, LabPod>,
  { pod, command }: ExecRequest,
  execInContainer?: ExecInContainer,
): ExecProcess {
  const { name = '' } = pod.metadata;
  const running = pods.get(name);
  if (running?.process === undefined) throw new Error(`unable to upgrade connection: container not found in pod ${name}`);
  if (execInContainer !== undefined) return execInContainer(running.process, command);
  const program = [process.execPath, AGENT_BIN, ...wordsForAgent(command)];
  const env = { PATH: SYSTEM_PATH, LANG: 'C.UTF-8', ...running.environment };
  const child = spawn('ip', ['netns', 'exec', running.machine.name, ...program], { env, stdio: 'pipe' });
  const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137);
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: () => child.kill('SIGKILL') };
}

/** The image of an agent has its own program and nothing else. */
function wordsForAgent(command: readonly string[]): readonly string[] {
  const begins = AGENT_PROGRAM.every((word, index) => command[index] === word);
  if (begins) return command.slice(AGENT_PROGRAM.length);
  throw new Error(`exec: "${command[0]}": executable file not found in $PATH`);
}
