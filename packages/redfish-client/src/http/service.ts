/** Requests to one Redfish service: authentication, redirections, JSON, and errors in words. */
import { RedfishError, type RedfishErrorCode } from '../error/redfish-error.js';
import { parseResource, shapeOf } from '../resource/parse-resource.js';
import { resolveLink } from '../resource/resolve-link.js';
import { linkAt, type RedfishResource } from '../resource/resource.js';
import type { RedfishTarget } from '../target/redfish-target.js';
import { describeTarget } from '../target/target-problems.js';
import { answerFailure } from './answer-failure.js';
import type { AnswerSize, Call } from './call.js';
import { Connections, type HttpAnswer, type HttpRequest, type Method } from './exchange.js';
import { basicToken, type Redact, redactor, reportRedactor, secretsOf } from './redact.js';

export const SERVICE_ROOT = '/redfish/v1/';
const SESSIONS = '/redfish/v1/SessionService/Sessions';
const MOST_REDIRECTIONS = 3;
/** An answer has begun, and cannot be read. */
const UNREADABLE: ReadonlySet<RedfishErrorCode> = new Set(['too-large', 'not-redfish']);
/** The answer is elsewhere, or a proxy got none from what is behind it. Source: RFC 9110 §15.4.4, §15.6.3, §15.6.5. */
const UNKNOWN_STATUSES: ReadonlySet<number> = new Set([303, 502, 504]);

export interface ServiceRequest {
  readonly method: Method;
  /** An `@odata.id`, or an address of the same server. */
  readonly link: string;
  readonly body?: RedfishResource;
  readonly headers?: Readonly<Record<string, string>>;
}

type SentRequest = ServiceRequest & Pick<HttpRequest, 'onSent'>;

export interface ServiceAnswer {
  readonly answer: CountedAnswer;
  /** Undefined if the answer has no body. */
  readonly resource: RedfishResource | undefined;
}

/** The content, and the number of values in its text. */
type CountedAnswer = HttpAnswer & AnswerSize;

interface Session {
  readonly token: string;
  readonly link: string | undefined;
}

export class Service {
  readonly #target: RedfishTarget;
  readonly #connections: Connections;
  readonly #origin: string;
  #session: Session | undefined;
  /** Sessions that another one has replaced, and that are not ended yet. */
  readonly #replaced: Session[] = [];
  #login: { readonly call: Call; readonly done: Promise<void> } | undefined;
  /** The logins of each call, by the session that the service refused. */
  readonly #logins = new WeakMap<Call, Map<Session | undefined, Promise<void>>>();
  #redactMessage: Redact;
  #redactReport: Redact;

  constructor(target: RedfishTarget) {
    this.#target = target;
    this.#connections = new Connections(target);
    this.#redactMessage = redactor(secretsOf(target.credentials));
    this.#redactReport = reportRedactor(target.credentials);
    this.#origin = `${target.https ? 'https' : 'http'}://${describeTarget(target)}`;
  }

  /** Reads the resource of a link and returns the result of `to`; nothing else is kept. @throws RedfishError */
  async readAs<Result>(call: Call, link: string, to: (resource: RedfishResource) => Result): Promise<Result> {
    const { answer, resource } = await this.request(call, { method: 'GET', link });
    const result = to(this.#contentOf(link, resource));
    call.forget(answer);
    await call.keep(result);
    return result;
  }

  /** The resource of a link. @throws RedfishError */
  read(call: Call, link: string): Promise<RedfishResource> {
    return this.readAs(call, link, (resource) => resource);
  }

  #contentOf(link: string, resource: RedfishResource | undefined): RedfishResource {
    if (resource === undefined) throw new RedfishError('not-redfish', `GET ${link} of ${this.#name}: an answer without content`);
    return resource;
  }

  /** The answer to a request, whose status is below 300. @throws RedfishError that names the service and the request. */
  async request(call: Call, request: ServiceRequest): Promise<ServiceAnswer> {
    try {
      return await this.#follow(call, request);
    } catch (error) {
      throw this.#explained(error, request);
    }
  }

  /** Ends all sessions of the client. Never rejects. */
  logout(call: Call): Promise<void> {
    if (this.#session !== undefined) this.#replaced.push(this.#session);
    this.#session = undefined;
    return this.endReplaced(call);
  }

  get hasReplacedSessions(): boolean {
    return this.#replaced.length > 0;
  }

  /** Ends the replaced sessions, because services keep few, and one that has not expired counts until it does. Never rejects: a session that cannot be ended expires by itself. */
  async endReplaced(call: Call): Promise<void> {
    await Promise.all(this.#replaced.splice(0).map((session) => this.#end(call, session).catch(() => undefined)));
  }

  /** Without another login: that would begin a session to end one. @throws RedfishError */
  async #end(call: Call, { token, link }: Session): Promise<void> {
    if (link !== undefined) call.forget(await this.#send(call, { method: 'DELETE', link }, { 'X-Auth-Token': token }));
  }

  /** A message without credentials. */
  readonly redact: Redact = (text) => this.#redactMessage(text);

  /** What a service reports without credentials. The user name alone stays, because logs say who did something. */
  readonly redactReport: Redact = (text) => this.#redactReport(text);

  close(): void {
    this.#connections.close();
  }

  get #name(): string {
    return describeTarget(this.#target);
  }

  async #follow(call: Call, request: ServiceRequest): Promise<ServiceAnswer> {
    let link = request.link;
    for (let turn = 0; turn <= MOST_REDIRECTIONS; turn++) {
      const path = this.#pathOf(link);
      const answer = await this.#authenticated(call, { ...request, link: path });
      if (answer.status < 300 || answer.status === 304) return { answer, resource: countedContentOf(call, request, answer) };
      call.forget(answer);
      if (request.method !== 'GET' && UNKNOWN_STATUSES.has(answer.status))
        throw new RedfishError('outcome-unknown', `HTTP ${answer.status}`, { status: answer.status });
      if (answer.status >= 400) throw answerFailure(answer, this.redact);
      const location = answer.header('location');
      if (request.method !== 'GET' || location === undefined)
        throw new RedfishError('redirected', `HTTP ${answer.status} to another place, which is followed for GET only`, {
          status: answer.status,
        });
      // Relative to the resource, as in HTTP.
      link = URL.canParse(location, `${this.#origin}${path}`) ? new URL(location, `${this.#origin}${path}`).href : location;
    }
    throw new RedfishError('redirected', `more than ${MOST_REDIRECTIONS} redirections`);
  }

  #pathOf(link: string): string {
    const path = resolveLink(link, this.#origin);
    if (path === undefined) throw new RedfishError('redirected', 'the link leads to another server, or is none');
    return path;
  }

  async #authenticated(call: Call, request: ServiceRequest): Promise<CountedAnswer> {
    const session = this.#session;
    const answer = await this.#sendKnowing(call, request);
    if (answer.status !== 401 || !this.#canLogin(session, answer)) return answer;
    const login = this.#loginInstead(call, session);
    if (login === undefined) return answer;
    call.forget(answer);
    await login;
    return this.#sendKnowing(call, request);
  }

  #canLogin(session: Session | undefined, refusal: HttpAnswer): boolean {
    if (this.#target.credentials === undefined) return false;
    // A service with basic authentication has already rejected the credentials: a second try could lock the account.
    return session !== undefined || !/\bbasic\b/i.test(refusal.header('www-authenticate') ?? '');
  }

  /**
   * A login after the service refused a session. A call logs in at most once without a session, and once to replace one, whatever the service
   * accepted before: a session may end at any time, and a login for each refused request could lock the account.
   *
   * @returns undefined if the call has already replaced another session. Rejects with a RedfishError if the login fails, or failed before.
   */
  #loginInstead(call: Call, session: Session | undefined): Promise<void> | undefined {
    // Another request has logged in since this one was sent.
    if (this.#session !== session) return Promise.resolve();
    const logins = this.#logins.get(call) ?? new Map<Session | undefined, Promise<void>>();
    this.#logins.set(call, logins);
    const begun = logins.get(session);
    if (begun !== undefined) return begun;
    if (session !== undefined && [...logins.keys()].some((one) => one !== undefined)) return undefined;
    const login = this.#loginOnce(call);
    logins.set(session, login);
    return login;
  }

  /** If a request that changes something was sent, and its answer cannot be read, it is not known whether the service carried it out. */
  async #sendKnowing(call: Call, request: ServiceRequest): Promise<CountedAnswer> {
    if (request.method === 'GET') return this.#send(call, request, this.#authorization());
    const changesBefore = call.changes;
    try {
      const answer = await this.#send(call, { ...request, onSent: () => call.changes++ }, this.#authorization());
      if (answer.status >= 400 && !UNKNOWN_STATUSES.has(answer.status)) call.changes--;
      return answer;
    } catch (error) {
      const isUnreadable = error instanceof RedfishError && UNREADABLE.has(error.code);
      if (!isUnreadable || call.changes === changesBefore) throw error;
      throw new RedfishError('outcome-unknown', error.message, { cause: error });
    }
  }

  /** Calls share one login. It ends with the call that began it, which is not a reason for the others to fail: one of them begins the next. */
  async #loginOnce(call: Call): Promise<void> {
    this.#login ??= {
      call,
      done: this.#createSession(call).finally(() => {
        this.#login = undefined;
      }),
    };
    const login = this.#login;
    try {
      await login.done;
    } catch (error) {
      if (!login.call.signal.aborted || call.signal.aborted) throw error;
      await this.#loginOnce(call);
    }
  }

  /** Source: DSP0266, "Redfish session login authentication". */
  async #createSession(call: Call): Promise<void> {
    const { credentials } = this.#target;
    if (credentials === undefined) return;
    const root = await this.#send(call, { method: 'GET', link: SERVICE_ROOT }, {});
    const parsed = parseResource(root.text);
    call.forget(root);
    const link = (parsed.ok ? linkAt(parsed.resource, 'Links', 'Sessions') : undefined) ?? SESSIONS;
    const body = { UserName: credentials.username, Password: credentials.password };
    const answer = await this.#send(call, { method: 'POST', link: this.#pathOf(link), body }, {});
    call.forget(answer);
    if (answer.status >= 400) throw answerFailure(answer, this.redact);
    const token = answer.header('x-auth-token');
    if (token === undefined || token === '')
      throw new RedfishError('not-redfish', 'the service created a session without X-Auth-Token');
    const content = parseResource(answer.text);
    this.#redactMessage = redactor([...secretsOf(credentials), token]);
    this.#redactReport = reportRedactor(credentials, token);
    if (this.#session !== undefined) this.#replaced.push(this.#session);
    // The name of the service in `Location` may be another one than that of the target.
    const links = [answer.header('location'), content.ok ? linkAt(content.resource) : undefined];
    this.#session = { token, link: links.find((one) => one !== undefined && resolveLink(one, this.#origin) !== undefined) };
  }

  #authorization(): Readonly<Record<string, string>> {
    const { credentials } = this.#target;
    if (this.#session !== undefined) return { 'X-Auth-Token': this.#session.token };
    return credentials === undefined ? {} : { Authorization: `Basic ${basicToken(credentials)}` };
  }

  async #send(call: Call, request: SentRequest, authorization: Readonly<Record<string, string>>): Promise<CountedAnswer> {
    const { method, link, body, headers, onSent } = request;
    call.countRequest();
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const fixed = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'OData-Version': '4.0' };
    const sent = { method, path: link, headers: { ...fixed, ...type, ...headers, ...authorization } };
    const content = { ...(body !== undefined && { body: JSON.stringify(body) }), ...(onSent !== undefined && { onSent }) };
    const answer = await this.#connections.exchange({ ...sent, ...content }, call);
    const { values } = shapeOf(answer.text);
    try {
      call.countValues(values);
    } catch (error) {
      call.forget({ octets: answer.octets, values: 0 });
      throw error;
    }
    return { ...answer, values };
  }

  /** Adds the service and the request to the message of the error. */
  #explained(error: unknown, { method, link }: ServiceRequest): unknown {
    if (!(error instanceof RedfishError)) return error;
    const again = error.retryAfterMs === undefined ? '' : `; try again in ${error.retryAfterMs / 1_000} seconds`;
    return error.with(this.redact(`${method} ${link.slice(0, 200)} of ${this.#name}: ${error.message}${again}`));
  }
}

/** The content of an answer. The memory of an unreadable answer is returned. If a change was answered so, it is not known who answered. */
function countedContentOf(call: Call, { method }: ServiceRequest, answer: CountedAnswer): RedfishResource | undefined {
  try {
    return contentOf(answer);
  } catch (error) {
    call.forget(answer);
    if (method === 'GET' || !(error instanceof RedfishError)) throw error;
    throw new RedfishError('outcome-unknown', `HTTP ${answer.status}, and ${error.message}`, { cause: error });
  }
}

function contentOf(answer: HttpAnswer): RedfishResource | undefined {
  if (answer.text.trim() === '') return undefined;
  const parsed = parseResource(answer.text);
  if (parsed.ok) return parsed.resource;
  if (parsed.reason === 'too-deep') throw new RedfishError('too-large', 'JSON that is nested too deeply');
  const type = answer.header('content-type')?.split(';')[0]?.slice(0, 64);
  const what = parsed.reason === 'not-json' ? 'not JSON' : 'JSON that is not an object';
  throw new RedfishError(
    'not-redfish',
    `the answer is ${what}${type === undefined ? '' : ` (${type})`}: is this a Redfish service?`,
  );
}
