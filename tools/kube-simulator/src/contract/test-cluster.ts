/** The shared parts of the contract tests: a simulator with one kind of custom resources, and a minimal HTTP client. */
import type { JsonObject } from '../api-object.js';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

const group = 'example.com';

/** Widgets have a spec that is required, a default, and a status subresource. */
export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer', minimum: 1 }, colour: { type: 'string', default: 'grey' } },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

export interface WatchedEvent {
  readonly type: string;
  readonly object: JsonObject & { readonly metadata: JsonObject };
}

interface WatchExtras {
  readonly path?: string;
  readonly onEvents?: (events: readonly WatchedEvent[]) => Promise<void>;
}

const mergePatch = 'application/merge-patch+json';

/** A cluster with the namespace `ns` and the kind Widget. */
export class TestCluster {
  readonly simulator: KubeSimulator;
  readonly widgets = `/apis/${group}/v1/namespaces/ns/widgets`;

  private constructor(simulator: KubeSimulator) {
    this.simulator = simulator;
  }

  static async start(): Promise<TestCluster> {
    const cluster = new TestCluster(await startKubeSimulator({ tls: false }));
    await cluster.post('/api/v1/namespaces', { metadata: { name: 'ns' } });
    await cluster.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition);
    while ((await cluster.get(cluster.widgets)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
    return cluster;
  }

  stop(): Promise<void> {
    return this.simulator.stop();
  }

  async request(
    method: string,
    path: string,
    { body, headers }: { body?: JsonObject | string; headers?: Readonly<Record<string, string>> },
  ): Promise<Reply> {
    const response = await fetch(this.simulator.url + path, {
      method,
      // A connection that stays open would fail the first request after a restart of the server, unless its end was noticed in time.
      headers: { authorization: `Bearer ${this.simulator.adminToken}`, connection: 'close', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, headers: response.headers, body: isJson ? (JSON.parse(text) as JsonObject) : { text } };
  }

  get(path: string, accept = 'application/json'): Promise<Reply> {
    return this.request('GET', path, { headers: { accept } });
  }

  post(path: string, body: JsonObject): Promise<Reply> {
    return this.request('POST', path, { body, headers: { 'content-type': 'application/json' } });
  }

  put(path: string, body: JsonObject): Promise<Reply> {
    return this.request('PUT', path, { body, headers: { 'content-type': 'application/json' } });
  }

  patch(path: string, body: JsonObject): Promise<Reply> {
    return this.request('PATCH', path, { body, headers: { 'content-type': mergePatch } });
  }

  delete(path: string, body?: JsonObject): Promise<Reply> {
    return this.request('DELETE', path, body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } });
  }

  createWidget(name: string, { metadata = {}, spec = {} }: { metadata?: JsonObject; spec?: JsonObject } = {}): Promise<Reply> {
    const body = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, ...metadata }, spec };
    return this.post(this.widgets, body);
  }

  async resourceVersion(): Promise<string> {
    const { body } = await this.get(this.widgets);
    return (body['metadata'] as { readonly resourceVersion: string }).resourceVersion;
  }

  /**
   * The events of a watch until the server ends it: `query` has to have a timeout.
   * @param onEvents - called with those so far, after each one that came.
   */
  async watch(query: string, { path = this.widgets, onEvents }: WatchExtras = {}): Promise<readonly WatchedEvent[]> {
    const response = await fetch(`${this.simulator.url}${path}?watch=1&${query}`, {
      headers: { authorization: `Bearer ${this.simulator.adminToken}` },
    });
    const events: WatchedEvent[] = [];
    let rest = '';
    for await (const part of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((one) => one !== '')) {
        events.push(JSON.parse(line) as WatchedEvent);
        await onEvents?.(events);
      }
    }
    return events;
  }
}

export function metadataOf(reply: Reply): JsonObject {
  return reply.body['metadata'] as JsonObject;
}

export function namesOf(reply: Reply): readonly string[] {
  return (reply.body['items'] as readonly { readonly metadata: { readonly name: string } }[]).map(
    ({ metadata }) => metadata.name,
  );
}
