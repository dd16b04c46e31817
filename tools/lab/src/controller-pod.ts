import { readList, readText } from '@vmdhcp/kube-runtime';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { controllerReady } from './controller-readiness.js';
import { freePort } from './free-port.js';
import { LabProcess } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';

/** Our controller as the process of its pod, with the arguments and the environment of its container. */
export class ControllerPod implements PodProcess {
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  #process: LabProcess | undefined;
  #isStopping = false;

  /** @param kubeconfig - with the rights of its ServiceAccount. */
  constructor(pod: Pod, kubeconfig: () => Promise<string>) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.ready.catch(() => undefined);
    this.exited = this.#run(pod, kubeconfig, resolve).finally(() => reject(new Error('the controller ended')));
  }

  stop(gracePeriodSeconds: number): void {
    this.#isStopping = true;
    this.#process?.kill(gracePeriodSeconds === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  async #run(pod: Pod, kubeconfig: () => Promise<string>, onReady: () => void): Promise<number> {
    const [container] = readList(pod.spec, 'containers');
    const http = `127.0.0.1:${await freePort()}`;
    const flags = ['--kubeconfig', await kubeconfig(), '--http', http];
    const env = Object.fromEntries(
      readList(container, 'env').map((one) => [readText(one, 'name') ?? '', readText(one, 'value') ?? '']),
    );
    if (this.#isStopping) return 0;
    this.#process = new LabProcess(process.execPath, [CONTROLLER_BIN, ...readList(container, 'args').map(String), ...flags], {
      env,
    });
    void controllerReady(this.#process, `http://${http}`).then(onReady, () => undefined);
    const { code } = await this.#process.ended(2 ** 31 - 1);
    return code ?? 137;
  }
}
