/** Many management controllers in one process: each has an address and a TCP port of its own, all share one HTTP server. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { Bmc } from './bmc.js';
import { bmcResource, OPEN_PATHS, RESET, SESSIONS, SYSTEM } from './bmc-resources.js';

export interface BmcFleetSettings {
  /** One management controller each: an address of this machine, such as 127.0.0.1. One address may be there several times. */
  readonly addresses: readonly string[];
  /** TCP port of each; default: free ones. */
  readonly port?: number;
  /** PEM texts. Undefined: clear text. */
  readonly tls?: { readonly key: string; readonly certificate: string };
  readonly credentials: { readonly username: string; readonly password: string };
  /** Called with `bmc-1 reset ForceOff` and the like. */
  readonly observe?: (text: string) => void;
}

export interface ListeningBmc {
  readonly bmc: Bmc;
  readonly address: string;
  readonly port: number;
}

type Answer = (response: ServerResponse) => void;

export class BmcFleet {
  readonly #bmcs = new Map<string, Bmc>();
  readonly #listeners: TcpServer[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #settings: BmcFleetSettings;
  /** In the order of the addresses. */
  readonly members: ListeningBmc[] = [];

  private constructor(settings: BmcFleetSettings) {
    this.#settings = settings;
    const handle = (request: IncomingMessage, response: ServerResponse) => void this.#handle(request, response);
    const { tls } = settings;
    this.#server = tls ? createHttpsServer({ key: tls.key, cert: tls.certificate }, handle) : createHttpServer(handle);
  }

  /** Resolves when all of them listen. */
  static async start(settings: BmcFleetSettings): Promise<BmcFleet> {
    const fleet = new BmcFleet(settings);
    for (const [index, address] of settings.addresses.entries()) await fleet.#listen(address, `bmc-${index + 1}`);
    return fleet;
  }

  /** Ends all connections. */
  stop(): void {
    for (const listener of this.#listeners) listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #listen(address: string, id: string): Promise<void> {
    const listener = createTcpServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket)).on('error', () => {});
      this.#server.emit('connection', socket);
    });
    listener.listen(this.#settings.port ?? 0, address);
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const bmc = new Bmc(id, (text) => this.#settings.observe?.(`${id} ${text}`));
    this.#listeners.push(listener);
    this.#bmcs.set(`${address}:${port}`, bmc);
    this.members.push({ bmc, address, port });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bmc = this.#bmcs.get(`${request.socket.localAddress}:${request.socket.localPort}`);
    if (bmc === undefined) return void request.destroy();
    bmc.requests++;
    const body = await readJson(request).catch(() => undefined);
    this.#answer(bmc, request, body)(response);
  }

  #answer(bmc: Bmc, request: IncomingMessage, body: unknown): Answer {
    const path = (request.url ?? '').split('?', 1)[0]?.replace(/(?<=.)\/$/, '') ?? '';
    if (bmc.behaviour !== 'good') return misbehave(bmc.behaviour);
    if (path === SESSIONS && request.method === 'POST') return this.#login(bmc, body);
    if (!OPEN_PATHS.has(path) && !this.#isKnown(bmc, request)) return refuse(401, 'There is no valid session');
    if (request.method === 'GET') return readResource(bmc, path);
    return change(bmc, { request, path, body });
  }

  #login(bmc: Bmc, body: unknown): Answer {
    const { UserName, Password } = (body ?? {}) as Readonly<Record<string, unknown>>;
    const { username, password } = this.#settings.credentials;
    if (UserName !== username || Password !== password) return refuse(401, 'The credentials are wrong');
    const token = randomUUID();
    bmc.tokens.add(token);
    const path = `${SESSIONS}/${token.slice(0, 8)}`;
    const resource = {
      '@odata.type': '#Session.v1_5_0.Session',
      '@odata.id': path,
      Id: token.slice(0, 8),
      Name: 'Session',
      UserName,
    };
    return send(201, resource, { 'X-Auth-Token': token, Location: path });
  }

  #isKnown(bmc: Bmc, request: IncomingMessage): boolean {
    const { username, password } = this.#settings.credentials;
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return request.headers.authorization === basic || bmc.tokens.has(String(request.headers['x-auth-token']));
  }
}

interface Change {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly body: unknown;
}

function change(bmc: Bmc, { request, path, body }: Change): Answer {
  const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (request.method === 'POST' && path === RESET) return outcome(bmc.reset(fields['ResetType']), 409);
  if (request.method === 'PATCH' && path === SYSTEM) return setBoot(bmc, request, fields['Boot']);
  if (request.method === 'DELETE' && path.startsWith(`${SESSIONS}/`)) return logout(bmc, path);
  return refuse(bmcResource(bmc, path) === undefined ? 404 : 405, `${request.method} ${path} is not supported`);
}

function logout(bmc: Bmc, path: string): Answer {
  const id = path.slice(SESSIONS.length + 1);
  for (const token of bmc.tokens) if (token.startsWith(id)) bmc.tokens.delete(token);
  return send(204);
}

function setBoot(bmc: Bmc, request: IncomingMessage, boot: unknown): Answer {
  const tag = request.headers['if-match'];
  if (tag !== undefined && tag !== '*' && tag !== bmc.etag) return refuse(412, 'The resource has changed');
  const { BootSourceOverrideEnabled: enabled, BootSourceOverrideTarget: target } = (boot ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return outcome(bmc.setBoot(enabled ?? bmc.override.enabled, target ?? bmc.override.target), 400);
}

function readResource(bmc: Bmc, path: string): Answer {
  const resource = bmcResource(bmc, path);
  if (resource === undefined) return refuse(404, `There is no resource ${path}`);
  const tag = resource['@odata.etag'];
  return send(200, resource, typeof tag === 'string' ? { ETag: tag } : {});
}

function misbehave(behaviour: Exclude<Bmc['behaviour'], 'good'>): Answer {
  switch (behaviour) {
    case 'hang':
      return () => {};
    case 'nonsense':
      return (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>starting</html>');
    case 'refuse-credentials':
      return refuse(401, 'The credentials are wrong');
    case 'unavailable':
      return send(503, {}, { 'Retry-After': '30' });
    case 'reset-connection':
      return (response) => response.socket?.destroy();
  }
}

function outcome(problem: string | undefined, status: number): Answer {
  return problem === undefined ? send(204) : refuse(status, problem);
}

function refuse(status: number, message: string): Answer {
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="lab"' } : {};
  const info = [
    { '@odata.type': '#Message.v1_1_2.Message', MessageId: 'Base.1.16.GeneralError', Message: message, Severity: 'Warning' },
  ];
  return send(status, { error: { code: 'Base.1.16.GeneralError', message, '@Message.ExtendedInfo': info } }, headers);
}

function send(status: number, body?: object, headers: Readonly<Record<string, string>> = {}): Answer {
  const content = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return (response) => {
    response.writeHead(status, { 'OData-Version': '4.0', ...content, ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as unknown);
}
