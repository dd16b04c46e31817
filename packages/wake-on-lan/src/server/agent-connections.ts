/**
 * Accepts connections and passes on those with the certificate of an agent. TLS ends here and not in gRPC: so certificates change
 * without a restart, the name of the client is checked once for each connection, and every refusal has a reason.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { TlsMaterial } from '../tls/tls-material.js';
import { RefusalMemory } from './refusal-memory.js';
import type { ConnectionRefusalReason, WolServerEvent } from './wol-server-event.js';

const MOST_CONNECTIONS = 4_096;
/** An agent has one; several agents can share one address. No address may use all connections. */
const MOST_CONNECTIONS_OF_AN_ADDRESS = 256;
const MOST_HANDSHAKES_OF_AN_ADDRESS = 32;
const HANDSHAKE_MS = 5_000;

export interface AgentConnectionsSettings {
  /** Undefined for clear text. */
  readonly tls: TlsMaterial | undefined;
  /** A DNS name in the client's certificate. */
  readonly clientName: string;
  readonly onConnection: (socket: Socket) => void;
  readonly observe: (event: WolServerEvent) => void;
}

export class AgentConnections {
  readonly #settings: AgentConnectionsSettings;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<string, number>();
  readonly #handshakes = new Map<string, number>();
  readonly #refusals = new RefusalMemory();

  constructor(settings: AgentConnectionsSettings) {
    this.#settings = settings;
    this.#server = settings.tls === undefined ? this.#clearText() : this.#tls(settings.tls);
    this.#server.maxConnections = MOST_CONNECTIONS;
    // Called before anything else is done about a connection.
    this.#server.prependListener('connection', (socket) => this.#admit(socket));
  }

  /** Resolves with the port. Rejects if it cannot listen on the address. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#settings.observe({ kind: 'server-failed', error }));
        resolve();
      });
    });
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /**
   * Sets the certificate of new connections, and the authorities that verify them. @throws if a text is not a certificate or key.
   */
  use(material: TlsMaterial): void {
    if ('setSecureContext' in this.#server) (this.#server as TlsServer).setSecureContext(toContext(material));
  }

  /** Stops accepting connections; resolves when all are closed. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #clearText(): Server {
    return createServer({ noDelay: true }, (socket) => {
      socket.on('error', ignoreSocketError);
      if (!socket.destroyed) this.#settings.onConnection(socket);
    });
  }

  #tls(material: TlsMaterial): TlsServer {
    const server = createTlsServer({
      ...toContext(material),
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
      requestCert: true,
      // Problems of a certificate are found and named below.
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_MS,
      noDelay: true,
    });
    server.prependListener('connection', (socket: Socket) => this.#limitHandshakes(socket));
    server.on('secureConnection', (socket) => this.#onSecure(socket));
    server.on('tlsClientError', (error, socket) => this.#onHandshakeError(error, socket));
    return server;
  }

  #onSecure(socket: TLSSocket): void {
    socket.on('error', ignoreSocketError);
    const remoteAddress = addressOf(socket);
    this.#endHandshake(socket);
    const refusal = findRefusal(socket, this.#settings.clientName);
    if (refusal !== undefined) {
      this.#refuse(remoteAddress, refusal.reason, refusal.message);
      socket.destroy();
      return;
    }
    this.#refusals.forget(remoteAddress);
    this.#settings.onConnection(socket);
  }

  #onHandshakeError(error: Error, socket: TLSSocket): void {
    const remoteAddress = addressOf(socket);
    socket.destroy();
    // Port probes open and close it.
    if (!isClosedByPeer(error)) this.#refuse(remoteAddress, 'handshake-failed', error.message);
  }

  #admit(socket: Socket): void {
    const remoteAddress = addressOf(socket);
    const open = this.#connections.get(remoteAddress) ?? 0;
    if (open >= MOST_CONNECTIONS_OF_AN_ADDRESS) {
      this.#refuse(remoteAddress, 'too-many-connections', `${open} connections of this address are open`);
      socket.destroy();
      return;
    }
    this.#connections.set(remoteAddress, open + 1);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      countDown(this.#connections, remoteAddress);
    });
  }

  #limitHandshakes(socket: Socket): void {
    if (socket.destroyed) return;
    const remoteAddress = addressOf(socket);
    const underWay = this.#handshakes.get(remoteAddress) ?? 0;
    if (underWay >= MOST_HANDSHAKES_OF_AN_ADDRESS) {
      this.#refuse(remoteAddress, 'too-many-handshakes', `${underWay} handshakes are under way`);
      socket.destroy();
      return;
    }
    this.#handshakes.set(remoteAddress, underWay + 1);
    const end = (): void => {
      socket.off('close', end);
      this.#pending.delete(portOf(socket, remoteAddress));
      countDown(this.#handshakes, remoteAddress);
    };
    this.#pending.set(portOf(socket, remoteAddress), end);
    socket.once('close', end);
  }

  /** Functions that end handshakes in progress, by address and port of the peer. */
  readonly #pending = new Map<string, () => void>();

  #endHandshake(socket: TLSSocket): void {
    this.#pending.get(portOf(socket, addressOf(socket)))?.();
  }

  #refuse(remoteAddress: string, reason: ConnectionRefusalReason, message: string): void {
    if (this.#refusals.isNew(remoteAddress, message))
      this.#settings.observe({ kind: 'connection-refused', reason, remoteAddress, message });
  }
}

function toContext({ certificate, key, authorities }: TlsMaterial): {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
} {
  return { cert: certificate, key, ca: authorities };
}

function findRefusal(
  socket: TLSSocket,
  clientName: string,
): { readonly reason: ConnectionRefusalReason; readonly message: string } | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined)
    return { reason: 'no-certificate', message: 'the client has no certificate; agents need --tls-dir' };
  const about = `certificate ${certificate.fingerprint256.slice(0, 23)} (valid from ${certificate.validFrom} to ${certificate.validTo})`;
  if (!socket.authorized)
    return {
      reason: 'certificate-refused',
      message: `${about}: ${describeAuthorizationError(socket)}`,
    };
  if (certificate.checkHost(clientName, { subject: 'never', wildcards: false }) === undefined)
    return {
      reason: 'wrong-name',
      message: `${about} is not for ${clientName}, but for ${certificate.subjectAltName ?? 'no name'}`,
    };
  if (socket.alpnProtocol !== 'h2') return { reason: 'handshake-failed', message: 'the client does not use HTTP/2' };
  return undefined;
}

/** The declared type is Error; the value is the code. */
function describeAuthorizationError(socket: TLSSocket): string {
  const { authorizationError: error } = socket as { readonly authorizationError: unknown };
  const code = error instanceof Error ? error.message : String(error);
  return REMEDIES.get(code) ?? code;
}

const REMEDIES = new Map([
  [
    'CERT_HAS_EXPIRED',
    'it has expired by the clock of this host; compare the clocks, and look at what renews the certificate of the agent',
  ],
  ['CERT_NOT_YET_VALID', 'it is not valid yet by the clock of this host; compare the clocks'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'it is of another authority; the agent must mount the Secret that this manager keeps'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'it is of another authority; the agent must mount the Secret that this manager keeps'],
  // The agent also sends its authority, if its ca.crt has it in addition to the manager's.
  ['SELF_SIGNED_CERT_IN_CHAIN', 'it is of another authority; the agent must mount the Secret that this manager keeps'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'it is signed by itself; the agent must mount the Secret that this manager keeps'],
]);

function isClosedByPeer(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** Decrements the count of this address. */
function countDown(counts: Map<string, number>, remoteAddress: string): void {
  const left = (counts.get(remoteAddress) ?? 1) - 1;
  if (left > 0) counts.set(remoteAddress, left);
  else counts.delete(remoteAddress);
}

function addressOf(socket: Socket): string {
  return socket.remoteAddress ?? 'unknown';
}

function portOf(socket: Socket, remoteAddress: string): string {
  return `${remoteAddress} ${socket.remotePort ?? 0}`;
}

/** A peer that disconnects is not an error of the server. */
function ignoreSocketError(): void {}
