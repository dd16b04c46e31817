import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { type HealthResponse, wolServices } from '../proto/wol-services.js';
import type { WolHandler } from '../report/wol-handler.js';
import { AGENT_NAME, type TlsMaterial } from '../tls/tls-material.js';
import { AgentConnections } from './agent-connections.js';
import { unavailable } from './failure.js';
import { ListFollowers } from './list-followers.js';
import { ReportMethods } from './report-methods.js';
import type { WolServerEvent } from './wol-server-event.js';

const MOST_MESSAGE_OCTETS = 1024 * 1024;
const MOST_STREAMS_OF_A_CONNECTION = 100;
/** A connection with a replaced certificate, or to a replaced manager, ends after this time. */
const CONNECTION_AGE_MS = 3_600_000;
const CONNECTION_AGE_GRACE_MS = 10_000;
const CONNECTION_IDLE_MS = 120_000;
const KEEPALIVE_MS = 20_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;
const STOP_MS = 5_000;

/** Where a manager listens, whom it accepts, and who handles reports. */
export interface WolServerSettings {
  /** Port 0 for any free port. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Undefined for clear text. Then any host that reaches the port can wake machines. */
  readonly tls: TlsMaterial | undefined;
  /** DNS name in the certificates of agents; default: wake-on-lan-agent.vmdhcp. */
  readonly clientName?: string;
  readonly handler: WolHandler;
  readonly observe: (event: WolServerEvent) => void;
}

/** Serves `wol.v1.WOLService` and `vmdhcp.wol.v1.WakeableAddresses`. */
export interface WolServer {
  readonly port: number;
  /** The number of agents that follow the list of addresses now. */
  readonly followers: number;
  /**
   * Sets the certificate and the authorities of new connections; open ones continue.
   * @throws if a text is not a certificate or key; then the current ones stay in use.
   */
  readonly use: (material: TlsMaterial) => void;
  /** Accepts nothing new; resolves when calls in progress have ended, or after five seconds. */
  readonly stop: () => Promise<void>;
}

/** Resolves when the server listens. Rejects if it cannot listen on the address. */
export async function startWolServer(settings: WolServerSettings): Promise<WolServer> {
  const { handler, observe } = settings;
  const server = new Server({
    'grpc.max_receive_message_length': MOST_MESSAGE_OCTETS,
    'grpc.max_send_message_length': MOST_MESSAGE_OCTETS,
    'grpc.max_concurrent_streams': MOST_STREAMS_OF_A_CONNECTION,
    'grpc.max_connection_age_ms': CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': CONNECTION_AGE_GRACE_MS,
    'grpc.max_connection_idle_ms': CONNECTION_IDLE_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
  });
  const reports = new ReportMethods(handler, observe);
  const followers = new ListFollowers(handler);
  const { wol, wakeableAddresses } = wolServices();
  server.addService(wol, {
    ReportWOLEvent: reports.report,
    ReportWOLEventStream: reports.reportStream,
    HealthCheck: (_: ServerUnaryCall<unknown, HealthResponse>, respond: sendUnaryData<HealthResponse>) =>
      respond(null, { status: handler.isServing() ? 'SERVING' : 'NOT_SERVING' }),
  } as UntypedServiceImplementation);
  server.addService(wakeableAddresses, {
    Follow: (call: Parameters<ListFollowers['add']>[0]) => followers.add(call),
  } as UntypedServiceImplementation);
  // TLS ended in AgentConnections.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new AgentConnections({
    tls: settings.tls,
    clientName: settings.clientName ?? AGENT_NAME,
    onConnection: (socket) => injector.injectConnection(socket),
    observe,
  });
  const port = await connections.listen(settings.listen);
  return {
    port,
    get followers() {
      return followers.size;
    },
    use: (material) => connections.use(material),
    stop: async () => {
      const closed = connections.close();
      followers.stop(unavailable('the manager ends'));
      injector.drain(STOP_MS);
      const timer = setTimeout(() => connections.destroy(), STOP_MS);
      await closed;
      clearTimeout(timer);
      server.forceShutdown();
    },
  };
}
