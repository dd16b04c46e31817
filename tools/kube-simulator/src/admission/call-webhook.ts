import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import type { JsonObject } from '../api-object.js';
import { describeConnectionFailure } from './connection-failure.js';
import type { WebhookAddress } from './webhook-address.js';

export type CallResult =
  | { readonly kind: 'answered'; readonly body: JsonObject }
  | { readonly kind: 'failed'; readonly problem: string };

/** Sends a review to a webhook. */
export type CallWebhook = (address: WebhookAddress, review: JsonObject, timeoutMs: number) => Promise<CallResult>;

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends reviews to webhooks over persistent connections. */
export class WebhookCaller {
  readonly #agents = new Map<string, Agent>();

  /** The webhook's answer, or why there is none, in the words of a real API server. */
  async call(address: WebhookAddress, review: JsonObject, timeoutMs: number): Promise<CallResult> {
    try {
      return readAnswer(await this.#post(address, JSON.stringify(review), AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      return { kind: 'failed', problem: `Post "${address.url}": ${describeConnectionFailure(error, address.connectTo)}` };
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #post(address: WebhookAddress, body: string, signal: AbortSignal): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const { connectTo, path, serverName } = address;
    const headers = {
      host: `${serverName}:${connectTo.port}`,
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request({ ...connectTo, path, headers, method: 'POST', agent: this.#agentOf(address), signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  #agentOf({ connectTo, serverName, ca }: WebhookAddress): Agent {
    const key = `${connectTo.host} ${connectTo.port} ${serverName} ${ca ?? ''}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    // A server name that is an address must not be sent as one; the certificate is checked against the host then.
    const names = isIP(serverName) === 0 ? { servername: serverName } : {};
    const agent = new Agent({ keepAlive: true, ...names, ...(ca === undefined ? {} : { ca }) });
    this.#agents.set(key, agent);
    return agent;
  }
}

const readAnswer = ({ status, text }: HttpAnswer): CallResult => {
  if (status < 200 || status > 299) return { kind: 'failed', problem: describeStatus(status, text) };
  try {
    const body = JSON.parse(text) as JsonObject;
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { kind: 'answered', body };
    return { kind: 'failed', problem: unreadable(`json: cannot unmarshal ${goTypeOf(body)} into Go value of type ${typeMeta}`) };
  } catch {
    const first = text.trimStart()[0];
    const why =
      first === undefined ? 'unexpected end of JSON input' : `invalid character '${first}' looking for beginning of value`;
    return { kind: 'failed', problem: unreadable(why) };
  }
};

const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const unreadable = (why: string): string => `couldn't get version/kind; json parse error: ${why}`;

const goTypeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

const describeStatus = (status: number, text: string): string => {
  const known: Record<number, string> = {
    401: 'the server has asked for the client to provide credentials',
    403: 'forbidden',
    404: 'the server could not find the requested resource',
    405: 'the server does not allow this method on the requested resource',
    409: 'the server reported a conflict',
    422: 'the server rejected our request due to an error in our request',
    429: 'the server has received too many requests and has asked us to try again later',
    503: 'the server is currently unable to handle the request',
    504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  };
  if (status >= 500 && known[status] === undefined)
    return `an error on the server (${JSON.stringify(text.trim() || 'unknown')}) has prevented the request from succeeding`;
  return known[status] ?? 'the server rejected our request for an unknown reason';
};
