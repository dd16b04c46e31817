// Runs a program in user, network, mount and process namespaces of its own: it may make networks and machines there, needs
// no root for it, and cannot touch the host. All its processes end with it, and what they leave in /run and in shared memory goes too.
import { spawn, spawnSync } from 'node:child_process';

const SET_UP =
  'mount --make-rprivate / 2>/dev/null; mount -t tmpfs tmpfs /run && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mkdir -p /run/netns && ip link set lo up && exec "$@"';
const WAYS = [['-Urnmpf', '--mount-proc', '--kill-child'], ['-Urnm'], ['-nmpf', '--mount-proc', '--kill-child']];

/** As root, without a user namespace: only there do other users exist. */
const ROOT_WAYS = WAYS.filter(needsRoot);

/** The way that works on this machine: parameters for `unshare`; or why none does. */
export function findNamespaces({ asRoot = false } = {}) {
  let reason = '';
  for (const way of asRoot ? ROOT_WAYS : WAYS) {
    const { status, stderr, error } = runInNamespaces(way, 'ip', ['link', 'add', 'try', 'type', 'bridge'], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    if (status === 0) return { way };
    reason ||= (error?.message ?? stderr).trim().split('\n')[0];
  }
  return { reason: `namespaces cannot be made here (${reason}); allow unprivileged user namespaces or run as root` };
}

/** @returns parameters of `unshare` that run a command in namespaces of its own. */
export function parametersInNamespaces(way, command, parameters) {
  return [...way, 'sh', '-c', SET_UP, 'sh', command, ...parameters];
}

/** @returns what `spawnSync` returns. */
export function runInNamespaces(way, command, parameters, options) {
  return spawnSync(...toSpawn(way, command, parameters, options));
}

/** @returns what `spawn` returns. */
export function startInNamespaces(way, command, parameters, options) {
  return spawn(...toSpawn(way, command, parameters, options));
}

/** Parameters of `spawn` and `spawnSync`. */
function toSpawn(way, command, parameters, options) {
  const [program, ...before] = needsRoot(way) && process.getuid() !== 0 ? throughSudo() : ['unshare'];
  const settings = { stdio: 'inherit', ...options, env: { ...process.env, ...options?.env, VMDHCP_LAB: '1' } };
  return [program, [...before, ...parametersInNamespaces(way, command, parameters)], settings];
}

function needsRoot([flags]) {
  return !flags.includes('U');
}

/** Where sudo asks for no password. It would set a PATH of its own. */
function throughSudo() {
  return ['sudo', '--non-interactive', '--preserve-env', 'env', `PATH=${process.env.PATH}`, 'unshare'];
}
