/** One request and its answer over HTTP or HTTPS, without authentication, redirection or interpretation. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import { RedfishError } from '../error/redfish-error.js';
import type { RedfishTarget } from '../target/redfish-target.js';
import type { Call } from './call.js';
import { connectionFailure } from './connection-failure.js';

/** The maximum octets of the body of one answer. The largest is a page of a log with a thousand entries. */
export const MOST_OF_BODY = 4 * 1_024 * 1_024;
/** The maximum simultaneous connections to one service, because management controllers are small computers. */
const MOST_CONNECTIONS = 2;
/** How long a connection is kept between the requests of a call; the next poll of a host opens a new one. */
const IDLE_CONNECTION_MS = 5_000;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called right before the first octet is sent. */
  readonly onSent?: () => void;
}

/** The context of a running request. */
type Permission = Pick<Call, 'signal' | 'mayChange' | 'countOctets' | 'forget'>;

export interface HttpAnswer {
  readonly status: number;
  /** The value of a header, by its name in lower case; the first of several. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** The octets of the body as it arrived, counted by the call. */
  readonly octets: number;
}

/** The connections to one service. */
export class Connections {
  readonly #target: RedfishTarget;
  readonly #kept: HttpAgent;
  readonly #fresh: HttpAgent;

  /** @throws RedfishError `invalid-target`: a PEM text cannot be read. */
  constructor(target: RedfishTarget) {
    this.#target = target;
    const [kept, fresh] = [{ keepAlive: true, maxSockets: MOST_CONNECTIONS, timeout: IDLE_CONNECTION_MS }, { keepAlive: false }];
    const tls = target.https ? tlsOptions(target) : {};
    this.#kept = target.https ? new HttpsAgent({ ...kept, ...tls }) : new HttpAgent(kept);
    this.#fresh = target.https ? new HttpsAgent({ ...fresh, ...tls }) : new HttpAgent(fresh);
  }

  /**
   * The answer to a request. A request that changes something uses a new connection: the service may close a kept one at the same moment, and then
   * the client could not know whether the request arrived.
   *
   * @throws RedfishError; the reason of the signal, if that ended it.
   */
  async exchange(request: HttpRequest, call: Permission): Promise<HttpAnswer> {
    if (request.method !== 'GET') return this.#send(request, this.#fresh, call);
    try {
      return await this.#send(request, this.#kept, call);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return this.#send(request, this.#fresh, call);
    }
  }

  close(): void {
    this.#kept.destroy();
    this.#fresh.destroy();
  }

  #send(request: HttpRequest, agent: HttpAgent, call: Permission): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const { signal, mayChange } = call;
      signal.throwIfAborted();
      const { host, port, https } = this.#target;
      const { method, path, headers, body, onSent } = request;
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = { host, port, method, path, agent, signal, headers: { ...headers, ...length } };
      const sent = https ? requestHttps(options) : requestHttp(options);
      const fail = (error: unknown) => reject(signal.aborted ? toError(signal.reason) : toFailure(error, sent));
      let isAnswered = false;
      sent.once('response', (answer) => {
        isAnswered = true;
        readBody(answer, call).then(
          (body) => resolve({ status: answer.statusCode ?? 0, header: headerOf(answer), ...body }),
          fail,
        );
      });
      sent.on('error', fail);
      // After an answer this has no effect: the promise is settled, or the body decides.
      sent.once('close', () => isAnswered || fail({ code: 'ECONNRESET' }));
      const send = () => {
        if (method !== 'GET' && !mayChange()) {
          sent.destroy(new RedfishError('aborted', 'not sent: the caller may change nothing any more'));
          return;
        }
        onSent?.();
        sent.end(body);
      };
      if (method === 'GET') send();
      // Check again, because seconds may pass until the connection is ready.
      else sent.once('socket', (socket) => void socket.once(https ? 'secureConnect' : 'connect', send));
    });
  }
}

/** True for a kept connection that the service closed before any answer. */
class StaleConnectionError extends RedfishError {}

function toFailure(error: unknown, sent: ClientRequest): Error {
  if (error instanceof RedfishError) return error;
  const { code, text } = connectionFailure(error);
  const details = error instanceof Error ? { cause: error } : {};
  return sent.reusedSocket && code === 'connection-lost'
    ? new StaleConnectionError(code, text, details)
    : new RedfishError(code, text, details);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new RedfishError('aborted', 'the call was ended');
}

function headerOf(answer: IncomingMessage): (name: string) => string | undefined {
  return (name) => {
    const value = answer.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
}

/**
 * Reads the body. The connection is not read while there is no memory. All stated octets get memory before the first one is read, so that answers do
 * not wait for each other halfway.
 */
async function readBody(answer: IncomingMessage, call: Permission): Promise<Pick<HttpAnswer, 'text' | 'octets'>> {
  const chunks: Buffer[] = [];
  let [octets, counted] = [0, 0];
  const count = async (more: number) => {
    if (counted + more > MOST_OF_BODY) throw new RedfishError('too-large', `the answer has more than ${MOST_OF_BODY} octets`);
    await call.countOctets(more);
    counted += more;
  };
  try {
    await count(Number(answer.headers['content-length'] ?? 0));
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      octets += chunk.length;
      await count(Math.max(0, octets - counted));
      chunks.push(chunk);
    }
    if (!answer.complete) throw new RedfishError('connection-lost', 'the connection ended in the middle of the answer');
  } catch (error) {
    // Do not read the rest.
    answer.destroy();
    call.forget({ octets: counted, values: 0 });
    throw error;
  }
  return { text: Buffer.concat(chunks).toString('utf8'), octets: counted };
}

function tlsOptions({ authorities, clientCertificate, serverName, verify }: RedfishTarget) {
  try {
    const secureContext = createSecureContext({
      ...(authorities !== undefined && { ca: authorities }),
      ...(clientCertificate && { key: clientCertificate.key, cert: clientCertificate.certificate }),
    });
    return { secureContext, rejectUnauthorized: verify !== false, ...nameOptions(serverName) };
  } catch (error) {
    // Only the code of the OpenSSL error: its text is not needed, and might quote the key.
    const { text } = connectionFailure(error);
    throw new RedfishError('invalid-target', `the authorities or the client certificate cannot be read as PEM (${text})`);
  }
}

/** A name is also sent to the server (SNI); an address must not be. */
function nameOptions(serverName: string | undefined) {
  if (serverName === undefined) return {};
  return {
    checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate),
    ...(isIP(serverName) === 0 && { servername: serverName }),
  };
}
