import type { Json, JsonObject } from '../api-object.js';
import { Bindings } from './bindings.js';
import { isLeftOut } from './placeholders.js';
import { type Answer, type OpenWatch, type OutgoingRequest, RecordedClient } from './recorded-client.js';
import type { RecordedWebhook } from './recorded-webhook.js';
import type { RecordingTarget } from './recording-target.js';
import { isJsonObject, type RecordedRequest, type Transcript } from './transcript.js';

interface Content {
  readonly body?: Json | undefined;
  readonly type?: string;
}

/** One transcript during its replay: the server, the bindings so far, and the replayer's own requests. */
export class ReplayedScenario {
  readonly transcript: Transcript;
  readonly target: RecordingTarget;
  bindings = new Bindings();
  /** Tokens of the users that get theirs during the scenario. */
  readonly tokens: Record<string, string>;
  webhook: RecordedWebhook | undefined;
  private readonly client: RecordedClient;

  constructor(transcript: Transcript, target: RecordingTarget) {
    this.transcript = transcript;
    this.target = target;
    this.tokens = { ...target.tokens };
    this.client = new RecordedClient(target.url, target.caCertificate);
  }

  /** Sends a recorded request, with the values of this run. */
  send(request: RecordedRequest, step: number): Promise<Answer> {
    return this.client.request(this.toOutgoing(request, step));
  }

  openWatch(request: RecordedRequest, step: number): Promise<OpenWatch> {
    return this.client.watch(this.toOutgoing(request, step));
  }

  /** A request that was not recorded: what the recorder did between two steps. Anything but 2xx is an error. */
  async do(method: string, path: string, content: Content = {}): Promise<JsonObject> {
    const answer = await this.attempt(method, path, content);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as JsonObject;
  }

  /** The same, whatever the answer is. */
  attempt(method: string, path: string, { body, type = 'application/json' }: Content = {}): Promise<Answer> {
    const headers: Record<string, string> = { ...this.authorization('admin'), accept: 'application/json' };
    if (body === undefined) return this.client.request({ method, path, headers });
    headers['content-type'] = type;
    return this.client.request({ method, path, headers, body: JSON.stringify(body) });
  }

  close(): void {
    this.client.close();
  }

  private toOutgoing(request: RecordedRequest, step: number): OutgoingRequest {
    const body = request.bodyText ?? (request.body === undefined ? undefined : JSON.stringify(this.toSend(request.body)));
    const headers: Record<string, string> = {
      'user-agent': 'recorder/1.0',
      'x-recorded-step': String(step),
      ...request.headers,
      ...this.authorization(request.user ?? 'admin'),
    };
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
    return { method: request.method, path: this.pathToSend(request.path), headers, ...(body === undefined ? {} : { body }) };
  }

  private authorization(user: string): Record<string, string> {
    if (user === 'anonymous') return {};
    return { authorization: `Bearer ${this.tokens[user] ?? 'invalid'}` };
  }

  private pathToSend(path: string): string {
    const [route = '', query] = path.split('?');
    if (query === undefined) return this.bindings.toSend(route);
    const parameters = query.split('&').map((parameter) => {
      const [name, value = ''] = parameter.split('=');
      if (name === 'resourceVersion') return `${name}=${this.versionToSend(value)}`;
      return this.bindings.toSend(parameter);
    });
    return `${this.bindings.toSend(route)}?${parameters.join('&')}`;
  }

  private versionToSend(recorded: string): string {
    return this.bindings.versions.toSend(recorded) ?? recorded;
  }

  private toSend(value: Json): Json {
    if (typeof value === 'string') return this.bindings.toSend(value);
    if (Array.isArray(value)) return value.map((item: Json) => this.toSend(item));
    if (!isJsonObject(value)) return value;
    if (Object.values(value).some(isLeftOut))
      throw new Error(`the transcript leaves out a part of a body: ${JSON.stringify(value)}`);
    const uid = typeof value['uid'] === 'string' ? value['uid'] : '';
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.memberToSend(key, item ?? null, uid)]));
  }

  private memberToSend(key: string, value: Json, uid: string): Json {
    if (typeof value !== 'string') return this.toSend(value);
    return key === 'resourceVersion' ? this.versionToSend(value) : this.bindings.fieldToSend({ uid, field: key }, value);
  }
}
