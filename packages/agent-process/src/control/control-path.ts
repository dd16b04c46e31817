/** Where the control socket of an agent is: a file that only its own user may use, in a folder that only this user may enter. */
import { existsSync, lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';

/** Memory of a pod that each container runtime mounts, writable where the root file system is not; of a host, the same for all programs. */
const SHARED_MEMORY = '/dev/shm';
const SOCKET = 'control.sock';
/** Linux has 107 octets for the path of a socket, and users of OpenShift have ten digits. What is made up anew for each pod is at the end of its name. */
const MOST_NAME = 50;
/** What group and others may do. */
const OTHERS = 0o077;

/** Of an agent on a bare host: beside its leases. */
export function stateControlPath(stateDirectory: string): string {
  return join(stateDirectory, SOCKET);
}

/**
 * Of an agent in a pod, as the agent and a command in the same container find it: by the name of the pod and its network namespace, as pods may share
 * memory.
 */
export function podControlPath(environment: NodeJS.ProcessEnv = process.env): string {
  const user = process.getuid?.() ?? 0;
  const name = podName(environment).slice(-MOST_NAME);
  return join(SHARED_MEMORY, `vmdhcp-agent-${user}`, `${name}-${networkNamespace()}.sock`);
}

/** Makes the folder of the socket of an agent in a pod. @throws Error where another user can have put something into it. */
export function makePodControlFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isOwnFolder(folder)) throw new Error(`${folder} may be used by another user; remove it`, { cause: error });
  }
}

/** True if an agent in this pod has the socket, and no other user can have put it there: on a host, every user may write into shared memory. */
export function hasPodControl(path: string): boolean {
  return existsSync(path) && isOwnFolder(dirname(path));
}

function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & OTHERS) === 0;
}

/** The name by which an agent is known. */
export function podName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['POD_NAME'] || hostname();
}

/** The number of the network namespace of this process. */
function networkNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/net'))?.[0] ?? '0';
}
