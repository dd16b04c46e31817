/** Finds the control socket of an agent: only its own user may use it, in a folder that only this user may enter. */
import { existsSync, lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Memory of a pod that each container runtime mounts, and that is writable even if the root file system is not; on a host, all
 * programs share it.
 */
const SHARED_MEMORY = '/dev/shm';
const SOCKET = 'control.sock';
/**
 * Linux limits the path of a socket to 107 octets, and user ids on OpenShift have ten digits. The unique part of a pod's name is
 * at its end.
 */
const MOST_NAME = 50;
/** The permissions of group and others. */
const OTHERS = 0o077;

/** The path for an agent on a bare host: beside its leases. */
export function stateControlPath(stateDirectory: string): string {
  return join(stateDirectory, SOCKET);
}

/**
 * The path for an agent in a pod, which a command in the same container can find: it contains the name of the pod and its network
 * namespace, because pods may share memory.
 */
export function podControlPath(environment: NodeJS.ProcessEnv = process.env): string {
  const user = process.getuid?.() ?? 0;
  const name = podName(environment).slice(-MOST_NAME);
  return join(SHARED_MEMORY, `vmdhcp-agent-${user}`, `${name}-${networkNamespace()}.sock`);
}

/** Makes the folder of the socket of an agent in a pod. @throws Error if another user may have written into it. */
export function makePodControlFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isOwnFolder(folder)) throw new Error(`${folder} may be used by another user; remove it`, { cause: error });
  }
}

/**
 * True if an agent in this pod has the socket, and no other user can have put it there: on a host, every user may write into
 * shared memory.
 */
export function hasPodControl(path: string): boolean {
  return existsSync(path) && isOwnFolder(dirname(path));
}

function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & OTHERS) === 0;
}

/** The name of the agent in output for people. */
export function podName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['POD_NAME'] || hostname();
}

/** The number of the network namespace of this process. */
function networkNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/net'))?.[0] ?? '0';
}
