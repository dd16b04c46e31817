/** The program of a pod that was installed, as a process of this checkout: the arguments and variables of its container, the rights of its ServiceAccount. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import type { ClusterAccess } from './cluster-access.js';
import { controllerReady } from './controller-readiness.js';
import { freePort } from './free-port.js';
import { LabProcess } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';
import { serviceAccountToken } from './service-account-token.js';

const HOST = '127.0.0.1';

export interface InstalledPlace {
  readonly simulator: KubeSimulator;
  /** As the administrator. */
  readonly admin: ClusterAccess;
  /** For its kubeconfig. */
  readonly folder: string;
}

export interface InstalledPod {
  readonly namespace: string;
  readonly name: string;
  /** The spec of the pod. */
  readonly spec: unknown;
}

export class InstalledProgram {
  readonly process: LabProcess;
  /** The URL of its status server. */
  readonly url: string;
  /** `host:port` of the webhook, of the page, or to which agents of Wake-on-LAN report. */
  readonly listen: string;

  private constructor(started: LabProcess, { url, listen }: Pick<InstalledProgram, 'url' | 'listen'>) {
    this.process = started;
    this.url = url;
    this.listen = listen;
  }

  /** Starts the first container of a pod. Ports of this host replace those of the pod: several pods are on one host. */
  static async start(place: InstalledPlace, pod: InstalledPod): Promise<InstalledProgram> {
    const [container] = readList(pod.spec, 'containers');
    const parameters = readList(container, 'args').map(String);
    const [command = ''] = parameters;
    const [port, httpPort] = [await freePort(), await freePort()];
    const listen = [
      ...(command === 'webhook' ? ['--listen', `${HOST}:${port}`] : []),
      ...(parameters.includes('--ui') ? ['--ui-listen', `${HOST}:${port}`] : []),
      // The webhook does not listen for agents: its `--wake-on-lan` only says which kinds exist.
      ...(command !== 'webhook' && parameters.includes('--wake-on-lan') ? ['--wake-on-lan-listen', `${HOST}:${port}`] : []),
    ];
    const webhook = parameters.find((one) => one.startsWith('--name='))?.slice('--name='.length);
    if (command === 'webhook') place.simulator.serveService(pod.namespace, webhook ?? '', { host: HOST, port });
    const flags = [...parameters, ...listen, '--http', `${HOST}:${httpPort}`, '--kubeconfig', await kubeconfigOf(place, pod)];
    const started = new LabProcess(process.execPath, [CONTROLLER_BIN, ...flags], { env: variablesOf(container, pod) });
    return new InstalledProgram(started, { url: `http://${HOST}:${httpPort}`, listen: `${HOST}:${port}` });
  }

  /** Resolves when it is ready. @throws Error with its output if it is not. */
  async ready(): Promise<void> {
    await controllerReady(this.process, this.url).catch((error: unknown) => {
      throw new Error(`not ready:\n${this.process.lines.join('\n')}`, { cause: error });
    });
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    if (this.process.hasEnded) return;
    this.process.kill('SIGKILL');
    await this.process.ended();
  }
}

async function kubeconfigOf(
  { simulator, admin, folder }: InstalledPlace,
  { namespace, name, spec }: InstalledPod,
): Promise<string> {
  const account = readText(spec, 'serviceAccountName') ?? 'default';
  const token = await serviceAccountToken(admin, namespace, account);
  const path = join(folder, `${namespace}-${name}.kubeconfig`);
  writeFileSync(path, simulator.kubeconfig({ name: account, token }), { mode: 0o600 });
  return path;
}

function variablesOf(container: unknown, { namespace, name }: InstalledPod): Record<string, string> {
  const fields: Readonly<Record<string, string>> = {
    'metadata.namespace': namespace,
    'metadata.name': name,
    'status.podIP': HOST,
  };
  return Object.fromEntries(
    readList(container, 'env').map((entry) => {
      const field = fields[readText(readField(entry, 'valueFrom'), 'fieldRef', 'fieldPath') ?? ''];
      return [readText(entry, 'name') ?? '', readText(entry, 'value') ?? field ?? ''];
    }),
  );
}
