/** The webhook of this checkout as a process, in front of a simulated API server that reaches it over real TLS. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import type { ClusterAccess } from './cluster-access.js';
import { controllerReady } from './controller-readiness.js';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import { CONTROLLER_NAMESPACE, installedFor } from './installed-objects.js';
import { LabProcess, type ProcessSettings } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';
import { serviceAccountToken } from './service-account-token.js';

/** The name of the Service, the ServiceAccount and both webhook configurations. */
export const WEBHOOK_NAME = 'vm-dhcp-webhook';
export const WEBHOOK_NAMESPACE = CONTROLLER_NAMESPACE;
const HOST = '127.0.0.1';

export interface WebhookPlace {
  readonly simulator: KubeSimulator;
  /** As the administrator. */
  readonly admin: ClusterAccess;
  /** For its kubeconfig. */
  readonly folder: string;
}

export class AdmissionWebhook {
  readonly process: LabProcess;
  /** The URL of its status server. */
  readonly url: string;
  /** The port on 127.0.0.1 to which the API server sends AdmissionReviews. */
  readonly port: number;
  readonly #admin: ClusterAccess;

  private constructor(parts: Pick<AdmissionWebhook, 'process' | 'url' | 'port'>, admin: ClusterAccess) {
    this.process = parts.process;
    this.url = parts.url;
    this.port = parts.port;
    this.#admin = admin;
  }

  /**
   * Starts a webhook with the rights of its ServiceAccount, and makes the API server find it. It becomes ready later, because its kinds may not be
   * served yet.
   */
  static async start(
    { simulator, admin, folder }: WebhookPlace,
    parameters: readonly string[] = [],
    settings: ProcessSettings = {},
  ): Promise<AdmissionWebhook> {
    await admin.applyAll(installedFor('webhook'));
    const [port, httpPort] = [await freePort(), await freePort()];
    const token = await serviceAccountToken(admin, WEBHOOK_NAMESPACE, WEBHOOK_NAME);
    const kubeconfig = join(folder, `webhook-${port}.kubeconfig`);
    writeFileSync(kubeconfig, simulator.kubeconfig({ name: WEBHOOK_NAME, token }), { mode: 0o600 });
    const addresses = ['--listen', `${HOST}:${port}`, '--http', `${HOST}:${httpPort}`, '--namespace', WEBHOOK_NAMESPACE];
    const flags = ['--kubeconfig', kubeconfig, ...addresses, ...parameters];
    simulator.serveService(WEBHOOK_NAMESPACE, WEBHOOK_NAME, { host: HOST, port });
    const started = new LabProcess(process.execPath, [CONTROLLER_BIN, 'webhook', ...flags], settings);
    return new AdmissionWebhook({ process: started, url: `http://${HOST}:${httpPort}`, port }, admin);
  }

  /** Resolves when the status server reports that it is ready. */
  async ready(): Promise<void> {
    await controllerReady(this.process, this.url).catch((error: unknown) => {
      throw new Error(`the webhook is not ready:\n${this.process.lines.join('\n')}`, { cause: error });
    });
  }

  /** Resolves when the API server sends it requests. */
  async registered(): Promise<void> {
    await this.ready();
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
      await waitFor(`the ${kind}`, async () => (await this.#admin.get(kind, WEBHOOK_NAME)) !== undefined);
  }

  /** How many requests about a resource it has decided. */
  async decisions(resource: string): Promise<number> {
    const counts = await this.#counts(`resource="${resource}"`);
    return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /**
   * Ends it at once.
   * @throws Error if it decided nothing, or could not decide: with the failurePolicy `Ignore`, no test would notice.
   */
  async close(): Promise<void> {
    if (this.process.hasEnded) return;
    const counts = await this.#counts('');
    await this.kill();
    const failed = counts.filter((line) => line.includes('outcome="failed"'));
    if (counts.length > 0 && failed.length === 0) return;
    const what = failed.length === 0 ? 'the webhook decided nothing' : `the webhook could not decide: ${failed.join(', ')}`;
    throw new Error(`${what}\n${this.process.lines.join('\n')}`);
  }

  /** Ends it at once: asked to end, it would answer for two seconds more. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.process.ended();
  }

  /** The lines of the metric of decisions that contain `text`. */
  async #counts(text: string): Promise<string[]> {
    const page = await (await fetch(`${this.url}/metrics`)).text();
    const isCount = (line: string) => line.startsWith('vmdhcpwebhook_decision_duration_seconds_count{') && line.includes(text);
    return page.split('\n').filter(isCount);
  }
}
