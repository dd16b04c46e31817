/** Redfish services on loopback: a good one with JSON resources, and arbitrary answers of a test. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import { RedfishClient, type RedfishClientSettings } from './client/redfish-client.js';
import type { RedfishError } from './error/redfish-error.js';
import type { RedfishTarget } from './target/redfish-target.js';

const DAY_MS = 86_400_000;
export const CREDENTIALS = { username: 'operator', password: 'pass"word-1' };
const NAME = 'bmc.test';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** Answers a request with an object as JSON; or writes the response itself, and returns undefined. */
export type Responder = (request: SeenRequest, response: ServerResponse) => object | undefined;

export interface TestService {
  readonly target: RedfishTarget;
  readonly requests: SeenRequest[];
  readonly client: (settings?: Partial<RedfishClientSettings>, target?: Partial<RedfishTarget>) => RedfishClient;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** A service in clear text. */
export async function startService(respond: Responder): Promise<TestService> {
  const requests: SeenRequest[] = [];
  return listen(createServer(handler(respond, requests)), requests, { https: false });
}

/** A service with TLS. */
export async function startTlsService(
  respond: Responder,
  tls: ServerOptions,
  target: Partial<RedfishTarget>,
): Promise<TestService> {
  const requests: SeenRequest[] = [];
  return listen(createTlsServer(tls, handler(respond, requests)), requests, { https: true, serverName: NAME, ...target });
}

async function listen(server: Server, requests: SeenRequest[], others: Partial<RedfishTarget>): Promise<TestService> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { host: '127.0.0.1', port, https: true, ...others };
  const clients: RedfishClient[] = [];
  return {
    target,
    requests,
    client: (settings, changed) => {
      const client = new RedfishClient({ ...target, ...changed }, { timeoutMs: 20_000, taskPollMs: 1, ...settings });
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((client) => client.close()));
      server.closeAllConnections();
      server.close();
    },
  };
}

function handler(respond: Responder, requests: SeenRequest[]) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
      requests.push(seen);
      const answer = respond(seen, response);
      if (answer !== undefined) sendJson(response, answer);
    });
  };
}

export interface HttpPart {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendJson(response: ServerResponse, body: object, { status = 200, headers = {} }: HttpPart = {}): undefined {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A refusal: HTTP status and a message, as services send them. */
export function refuse(
  response: ServerResponse,
  status: number,
  stated: HttpPart & { readonly message?: string } = {},
): undefined {
  const { message, headers = {} } = stated;
  const error = message === undefined ? {} : { error: { '@Message.ExtendedInfo': [{ Message: message }] } };
  return sendJson(response, error, { status, headers });
}

/** Resources by path; another path is answered with 404. */
export function serve(resources: Readonly<Record<string, object>>): Responder {
  return ({ method, path }, response) => {
    if (method !== 'GET') return void response.writeHead(204).end();
    return resources[path] ?? refuse(response, 404, { message: `no resource ${path}` });
  };
}

export const link = (path: string) => ({ '@odata.id': path });
export const collection = (...paths: readonly string[]) => ({ Members: paths.map(link), 'Members@odata.count': paths.length });

/** The smallest service that has a manager and a system. */
export const SMALL: Readonly<Record<string, object>> = {
  '/redfish/v1/': { RedfishVersion: '1.17.0', Managers: link('/redfish/v1/Managers'), Systems: link('/redfish/v1/Systems') },
  '/redfish/v1/Managers': collection('/redfish/v1/Managers/1'),
  '/redfish/v1/Managers/1': { ...link('/redfish/v1/Managers/1'), FirmwareVersion: '2.80', Status: { Health: 'OK' } },
  '/redfish/v1/Systems': collection('/redfish/v1/Systems/1'),
  '/redfish/v1/Systems/1': {
    ...link('/redfish/v1/Systems/1'),
    PowerState: 'On',
    Boot: {
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd'],
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
        'ResetType@Redfish.AllowableValues': ['On', 'ForceOff', 'ForceRestart'],
      },
    },
  },
};

/** A change of the system of `SMALL`. */
export function withSystem(fields: object, others: Readonly<Record<string, object>> = {}): Readonly<Record<string, object>> {
  return { ...SMALL, '/redfish/v1/Systems/1': { ...SMALL['/redfish/v1/Systems/1'], ...fields }, ...others };
}

/** An entry of a log with as many fields as large vendors have. */
function logEntry(number: number): object {
  return {
    ...link(`/redfish/v1/Managers/1/LogServices/IEL/Entries/${number}/`),
    '@odata.context': '/redfish/v1/$metadata#LogEntry.LogEntry',
    '@odata.etag': 'W/"6C6F5CD1"',
    '@odata.type': '#LogEntry.v1_1_0.LogEntry',
    Id: String(number),
    Created: new Date(1.7e12 + number * 1_000).toISOString(),
    EntryType: 'Oem',
    Message: `Browser login: Administrator - 192.168.100.200 (${number})`,
    Name: 'Event Log',
    Oem: {
      Vendor: {
        '@odata.context': '/redfish/v1/$metadata#VendorLogEntry.VendorLogEntry',
        '@odata.type': '#VendorLogEntry.v2_1_0.VendorLogEntry',
        Categories: ['Security'],
        Class: 35,
        Code: 3,
        Count: 1,
        EventNumber: number,
        LearnMoreLink: 'https://vendor.test/support/event-log',
        RecommendedAction: '',
        Severity: 'Informational',
        Updated: '2026-01-01T00:00:00Z',
      },
    },
    OemRecordFormat: 'Vendor-EventLog',
    Severity: 'OK',
  };
}

/** The pages of one log, oldest entry first; `/entries` is the first one, `/entries?page=1` the next. */
export function logPages(pages: number, entriesOfPage: number): Readonly<Record<string, object>> {
  const nameOf = (page: number) => (page === 0 ? '/entries' : `/entries?page=${page}`);
  const entriesOf = (page: number) => Array.from({ length: entriesOfPage }, (_, index) => logEntry(page * entriesOfPage + index));
  const pageOf = (page: number) => ({
    Members: entriesOf(page),
    'Members@odata.count': pages * entriesOfPage,
    ...(page + 1 < pages && { 'Members@odata.nextLink': nameOf(page + 1) }),
  });
  return Object.fromEntries(Array.from({ length: pages }, (_, page) => [nameOf(page), pageOf(page)]));
}

/** A service whose system has one log with these pages. */
export function withLog(pages: Readonly<Record<string, object>>, fields: object = {}): Readonly<Record<string, object>> {
  const services = { '/logs': collection('/logs/1'), '/logs/1': { ...link('/logs/1'), Entries: link('/entries') } };
  return withSystem({ ...fields, LogServices: link('/logs') }, { ...services, ...pages });
}

/** The error of a call, as `code message`. */
export async function failureOf(call: Promise<unknown>): Promise<RedfishError> {
  return call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: RedfishError) => error,
  );
}

export interface TestAuthority {
  readonly certificate: string;
  readonly issue: (name?: string, notAfterMs?: number) => Promise<{ key: string; cert: string }>;
}

export async function createAuthority(): Promise<TestAuthority> {
  const validity = (notAfterMs = Date.now() + DAY_MS) => ({ notBeforeMs: Date.now() - 2 * DAY_MS, notAfterMs });
  const authority = await certificateIssuer.createAuthority('test', validity());
  return {
    certificate: authority.certificate,
    issue: async (name = NAME, notAfterMs) => {
      const { key, certificate } = await certificateIssuer.issue(authority, [name], validity(notAfterMs));
      return { key, cert: certificate };
    },
  };
}
