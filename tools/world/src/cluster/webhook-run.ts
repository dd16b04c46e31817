/** One replica of the webhook: the rules of admission on caches of its own, without its HTTPS server and its certificate. */
import {
  ADMISSION_PATHS,
  type AdmissionPath,
  type ClusterFactsSource,
  createClusterFactsSource,
  createClusterReviewer,
  decodeReview,
  encodeAnswer,
  serviceAccountsOf,
} from '@vmdhcp/admission/webhook';
import { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import { type ApiResource, type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import type { CallResult, JsonObject } from '@vmdhcp/kube-simulator';
import { cachedParts, NO_CLUSTER_NETWORKS } from '@vmdhcp/reconciler';
import { Transport } from '../api/transport.js';
import { CONTROLLER_NAMESPACE } from './controller-run.js';
import type { Surroundings } from './surroundings.js';

/** The Service of the webhook, its configurations, and its ServiceAccount. */
export const WEBHOOK = 'vm-dhcp-webhook';
const TIMEOUT_MS = 30_000;

export interface WebhookSettings extends Surroundings {
  readonly node: string;
}

export class WebhookRun {
  readonly process: FakeProcess;
  readonly node: string;
  readonly #settings: WebhookSettings;
  readonly #source: ClusterFactsSource;
  readonly #review: ReturnType<typeof createClusterReviewer>;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
    this.node = settings.node;
    this.process = new FakeProcess(settings.scheduler);
    const { scheduler, simulator, linkOf, tokenOf, node, random } = settings;
    const transport = new Transport({
      ...{ scheduler, simulator, process: this.process, userAgent: WEBHOOK, timeoutMs: TIMEOUT_MS },
      link: linkOf(node),
      token: tokenOf(CONTROLLER_NAMESPACE, WEBHOOK),
    });
    const caches = new SharedCaches({
      open: (resource: ApiResource) => new ApiObjectClient<KubernetesObject>(transport, resource),
      clock: this.process,
      backOff: { firstMs: 100, mostMs: 30_000, random: () => random(1_000_000) / 1_000_000 },
      trim: cachedParts,
    });
    this.#source = createClusterFactsSource(caches, NO_CLUSTER_NETWORKS, () => undefined);
    this.#review = createClusterReviewer({
      facts: this.#source.facts,
      virtualMachines: { onProblem: 'Warn' },
      controllerUser: serviceAccountsOf(CONTROLLER_NAMESPACE),
      refresh: this.#source.refresh,
    });
    this.#source.start();
  }

  /** True if its Service has its address. */
  get isReady(): boolean {
    return !this.process.isDead && this.#source.synced();
  }

  /** Answers when it is awake. @param url - the path of the request, with its query. */
  async answer(url: string, review: JsonObject): Promise<CallResult> {
    const { scheduler, linkOf, node, fault } = this.#settings;
    const { latencyMs } = linkOf(node);
    await scheduler.sleep(latencyMs());
    await new Promise<void>((resolve) => this.process.deliver(resolve));
    const decoded = decodeReview(JSON.stringify(review));
    if (!decoded.ok) return { kind: 'failed', problem: decoded.message };
    const answer = await this.#review(pathOf(url), decoded.review);
    const body = JSON.parse(encodeAnswer(decoded.review.uid, answer)) as JsonObject;
    await scheduler.sleep(latencyMs());
    return { kind: 'answered', body: fault?.admission?.(body, decoded.review) ?? body };
  }

  kill(): void {
    this.process.kill();
    this.#source.stop();
  }
}

function pathOf(url: string): AdmissionPath {
  return url.startsWith(ADMISSION_PATHS.defaulting) ? 'defaulting' : 'validation';
}
