/** An image as a container runtime sees it: unpacked by umoci, run by crun as containerd and CRI-O have it run. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ExecProcess } from '@vmdhcp/kube-simulator';
import type { Lab } from './lab.js';
import { type ContainerOfPod, SECRETS } from './lab-pod.js';
import type { LabProcess, ProcessSettings } from './lab-process.js';
import { SYSTEM_PATH } from './real-program.js';

/**
 * The seccomp profile of podman and buildah, with the same rules as those of Docker and containerd (`RuntimeDefault`); it exists only if they are
 * installed.
 */
const SECCOMP_PROFILE = '/usr/share/containers/seccomp.json';
const CRUN = ['--cgroup-manager=disabled'];
let lastNumber = 0;

export interface ContainerSettings {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** As a pod has it; undefined: that of the examples for programs without privileges. */
  readonly securityContext?: unknown;
  /** Files or folders of the host to paths in the container, to be read. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** A network namespace by its name; undefined: that of the lab. */
  readonly network?: string;
}

export const UNPRIVILEGED = {
  runAsUser: 65_532,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export class UnpackedImage {
  readonly #folder: string;
  readonly #process: Readonly<Record<string, unknown>>;
  /** The ids of containers that were started. */
  readonly #ids = new WeakMap<LabProcess, string>();

  /**
   * Unpacks the image of this machine's processor.
   * @param folder - For its files; must not exist.
   */
  constructor(layout: string, folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
    const name = String(
      readField(
        readList(readJson(join(layout, 'index.json')), 'manifests')[0],
        'annotations',
        'org.opencontainers.image.ref.name',
      ),
    );
    run('skopeo', ['copy', '--quiet', `oci:${layout}:${name}`, `oci:${folder}/one:${name}`]);
    run('umoci', ['unpack', '--image', `${folder}/one:${name}`, `${folder}/bundle`]);
    rmSync(`${folder}/one`, { recursive: true });
    this.#process = readField(readJson(join(folder, 'bundle/config.json')), 'process') as Readonly<Record<string, unknown>>;
  }

  get rootfs(): string {
    return join(this.#folder, 'bundle/rootfs');
  }

  /** The command line of a container. */
  get program(): readonly string[] {
    return readList(this.#process, 'args').map(String);
  }

  /** Starts a container; it ends with the lab. */
  start(lab: Lab, settings: ContainerSettings, processSettings?: ProcessSettings): LabProcess {
    const id = `vmdhcp-${process.pid}-${++lastNumber}`;
    const bundle = join(this.#folder, id);
    mkdirSync(bundle);
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(this.#toConfig(settings)));
    const started = lab.start('crun', [...CRUN, 'run', '--bundle', bundle, id], processSettings);
    this.#ids.set(started, id);
    return started;
  }

  /** Runs a command beside the program of a container, as containerd does: the same in everything but the command line. */
  exec(container: LabProcess, command: readonly string[]): ExecProcess {
    const id = this.#ids.get(container) ?? '';
    const { process: ofProgram } = readJson(join(this.#folder, id, 'config.json')) as { readonly process: object };
    const file = join(this.#folder, id, `exec-${++lastNumber}.json`);
    writeFileSync(file, JSON.stringify({ ...ofProgram, args: command }));
    const child = spawn('crun', [...CRUN, 'exec', '--process', file, id], { stdio: 'pipe', env: { PATH: SYSTEM_PATH } });
    const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137);
    return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: () => child.kill('SIGKILL') };
  }

  /** Runs a pod with the security context that it has. */
  startPod(lab: Lab, { machine, args, env, securityContext, secrets, etc, onLine }: ContainerOfPod): LabProcess {
    const user = Number(readField(securityContext, 'runAsUser'));
    if (secrets !== undefined) giveTo(user, secrets);
    const mounts = {
      ...(secrets !== undefined && { [secrets]: `/var${SECRETS}` }),
      ...(etc !== undefined && { [join(etc.folder, 'upper/hosts')]: '/etc/hosts', ...etc.mounts }),
    };
    return this.start(lab, { args, env, securityContext, mounts, network: machine.name }, { onLine });
  }

  #toConfig({ args, env = {}, securityContext = UNPRIVILEGED, mounts = {}, network }: ContainerSettings): object {
    const user = Number(readField(securityContext, 'runAsUser'));
    const capabilities = readList(securityContext, 'capabilities', 'add').map((name) => `CAP_${String(name)}`);
    return {
      ociVersion: '1.0.2',
      process: {
        ...this.#process,
        terminal: false,
        user: { uid: user, gid: user },
        args: [...this.program, ...args],
        env: [...readList(this.#process, 'env'), ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
        // Neither inheritable nor ambient: a user other than root has them only as far as the program's file allows.
        capabilities: { bounding: capabilities, permitted: capabilities, effective: capabilities },
        noNewPrivileges: readField(securityContext, 'allowPrivilegeEscalation') === false,
      },
      root: { path: this.rootfs, readonly: readField(securityContext, 'readOnlyRootFilesystem') === true },
      mounts: [...KERNEL_MOUNTS, ...Object.entries(mounts).map(([source, destination]) => toBind(source, destination))],
      linux: {
        namespaces: [
          ...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
          ...(network === undefined ? [] : [{ type: 'network', path: `/run/netns/${network}` }]),
        ],
        maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
        readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
        ...(existsSync(SECCOMP_PROFILE) && { seccomp: toSeccomp(readJson(SECCOMP_PROFILE), capabilities) }),
      },
    };
  }
}

const KERNEL_MOUNTS: readonly OciMount[] = [
  { destination: '/proc', type: 'proc', source: 'proc', options: [] },
  { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'] },
  { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'] },
  { destination: '/run', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=755', 'size=65536k'] },
];

/** A kubelet gives the token to the user of the container. */
function giveTo(user: number, folder: string): void {
  chmodSync(folder, 0o755);
  for (const file of readdirSync(folder)) chownSync(join(folder, file), user, user);
}

function toBind(source: string, destination: string): OciMount {
  return { destination, type: 'bind', source, options: ['bind', 'ro'] };
}

/** The profile for a container with these capabilities, as runtimes resolve it. */
function toSeccomp(profile: unknown, capabilities: readonly string[]): object {
  const rules = readList(profile, 'syscalls').filter((rule) => applies(rule, capabilities));
  const syscalls = rules.map((rule) => {
    const errnoRet = readField(rule, 'errnoRet');
    const args = readList(rule, 'args');
    return {
      names: readList(rule, 'names'),
      action: readText(rule, 'action'),
      ...(args.length > 0 && { args }),
      ...(errnoRet !== undefined && { errnoRet }),
    };
  });
  const [defaultAction, defaultErrnoRet] = [readText(profile, 'defaultAction'), readField(profile, 'defaultErrnoRet')];
  return { defaultAction, ...(defaultErrnoRet !== undefined && { defaultErrnoRet }), syscalls };
}

function applies(rule: unknown, capabilities: readonly string[]): boolean {
  const included = readList(rule, 'includes', 'caps');
  const excluded = readList(rule, 'excludes', 'caps');
  const architectures = readList(rule, 'includes', 'arches');
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return (
    included.every((name) => capabilities.includes(String(name))) &&
    !excluded.some((name) => capabilities.includes(String(name))) &&
    (architectures.length === 0 || architectures.includes(architecture))
  );
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function run(command: string, parameters: readonly string[]): void {
  execFileSync(command, [...parameters], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: SYSTEM_PATH }, timeout: 60_000 });
}
