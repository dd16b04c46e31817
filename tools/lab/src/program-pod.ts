import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { type InstalledPlace, InstalledProgram } from './installed-program.js';

/** The controller or the webhook as the process of its pod. */
export class ProgramPod implements PodProcess {
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  #program: InstalledProgram | undefined;
  #isStopping = false;

  constructor(pod: Pod, place: InstalledPlace) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.ready.catch(() => undefined);
    this.exited = this.#run(pod, place, resolve).finally(() => reject(new Error('the program ended')));
  }

  stop(gracePeriodSeconds: number): void {
    this.#isStopping = true;
    this.#program?.process.kill(gracePeriodSeconds === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  async #run(pod: Pod, place: InstalledPlace, onReady: () => void): Promise<number> {
    const { namespace = '', name = '' } = pod.metadata;
    this.#program = await InstalledProgram.start(place, { namespace, name, spec: pod['spec'] });
    if (this.#isStopping) this.#program.process.kill('SIGTERM');
    void this.#program.ready().then(onReady, () => undefined);
    const { code } = await this.#program.process.ended(2 ** 31 - 1);
    return code ?? 137;
  }
}
