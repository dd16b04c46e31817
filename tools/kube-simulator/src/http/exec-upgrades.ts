import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ApiContext } from '../api/api-call.js';
import { execProtocols, selectExecProtocol } from '../exec/exec-channels.js';
import type { ExecInPod } from '../exec/exec-in-pod.js';
import { ExecSession } from '../exec/exec-session.js';
import { type ExecTarget, execTarget, tooManyCommands } from '../exec/exec-target.js';
import { badRequest } from '../failures.js';
import type { RequestAttributes } from '../request/request-chain.js';

/** A request whose connection becomes a WebSocket. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly attributes: RequestAttributes;
  readonly query: URLSearchParams;
}

const mostCommands = 64;
const mostMessageBytes = 4 * 1024 * 1024;

/** `pods/exec` over WebSockets. */
export class ExecUpgrades {
  readonly #context: ApiContext;
  readonly #execInPod: ExecInPod;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: mostMessageBytes,
    handleProtocols: (offered) => selectExecProtocol(offered) ?? false,
  });
  readonly #sessions = new Set<ExecSession>();

  constructor(context: ApiContext, execInPod: ExecInPod) {
    this.#context = context;
    this.#execInPod = execInPod;
  }

  /**
   * Accepts the WebSocket and starts the command. Sends no answer if it throws.
   *
   * @param authorize - called for the verb `create` too: since Kubernetes 1.35, the `get` of a WebSocket is not enough.
   * @throws ApiError 400, 403, 404 or 429.
   */
  async accept(
    { request, socket, head, attributes, query }: UpgradeRequest,
    authorize: (attributes: RequestAttributes) => Promise<void>,
  ): Promise<void> {
    if (attributes.verb !== 'create') await authorize({ ...attributes, verb: 'create' });
    const target = execTarget(this.#context, attributes, query);
    const offered = new Set((request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim()));
    const protocol = selectExecProtocol(offered);
    if (protocol === undefined)
      throw badRequest(`unable to upgrade: unable to negotiate protocol: server supports ${execProtocols.join(', ')}`);
    if (this.#sessions.size >= mostCommands) throw tooManyCommands(mostCommands);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const session = new ExecSession(webSocket, { streams: target.streams, protocol });
      this.#sessions.add(session);
      void session.run(() => this.#start(target)).finally(() => this.#sessions.delete(session));
    });
  }

  /** Ends all commands. */
  close(): void {
    for (const session of this.#sessions) session.stop();
  }

  #start({ request, isRunning }: ExecTarget): ReturnType<ExecInPod> {
    if (!isRunning) throw new Error(`unable to upgrade connection: container not found ("${request.container}")`);
    return this.#execInPod(request);
  }
}
