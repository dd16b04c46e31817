/** The page over HTTP: files, data and events. Everything is read-only, nothing is loaded from elsewhere, and no other site may read it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AccessDecision, PageAccess } from '../access/page-access.js';
import { ChangeFeed } from '../live/change-feed.js';
import type { PageError } from '../model/page-data.js';
import type { PageSource } from '../source/page-source.js';
import { answerApi, MOST_REQUESTS_OF_USER, type ServedPage } from './answer-api.js';
import { EventStreams } from './event-streams.js';
import type { Asset } from './load-assets.js';
import { PageProblem } from './page-problem.js';
import { Places } from './places.js';
import { RepeatedFailures } from './repeated-failures.js';

/** What the answers of the page are made from. */
export interface PageHandlerSettings {
  readonly source: PageSource;
  readonly access: PageAccess;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  /** The name of this process. */
  readonly instance: string;
  readonly version: string;
  /** The pod or host. */
  readonly servedBy: string;
  /**
   * True if no token is required. Then requests must name the host by a loopback address; otherwise another site whose name resolves to this host
   * could read the page in a browser of this host.
   */
  readonly onlyLoopbackNames: boolean;
  readonly onError: (error: unknown) => void;
}

type OnGranted = (user: string | null) => void;

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

export class PageHandler {
  readonly #settings: PageHandlerSettings;
  readonly #page: ServedPage;
  readonly #streams: EventStreams;
  readonly #failures: RepeatedFailures;

  constructor(settings: PageHandlerSettings) {
    this.#settings = settings;
    const { source, clock, version, servedBy, wallTimeMs, instance } = settings;
    const feed = new ChangeFeed(source, clock);
    this.#page = { source, feed, places: new Places(MOST_REQUESTS_OF_USER), version, servedBy, wallTimeMs };
    this.#streams = new EventStreams({ feed, clock, instance });
    this.#failures = new RepeatedFailures(clock, settings.onError);
  }

  /** The number of open pages. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Never throws. @param onGranted - called when access is granted; null if there are no users. */
  readonly handle = async (
    request: IncomingMessage,
    response: ServerResponse,
    onGranted: OnGranted = () => {},
  ): Promise<void> => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    try {
      await this.#answer(request, response, onGranted);
    } catch (error) {
      this.#fail(response, error);
    }
  };

  /** Ends the connections of all pages. */
  stop(): void {
    this.#streams.stop();
    this.#page.feed.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, onGranted: OnGranted): Promise<void> {
    const url = URL.parse(request.url ?? '/', 'http://page');
    if (url === null) throw new PageProblem(400, 'bad-request', 'the request names no path');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      throw new PageProblem(405, 'method-not-allowed', 'the page is read only: GET and HEAD are known');
    }
    this.#demandHost(request);
    const asset = this.#settings.assets.get(url.pathname);
    if (asset !== undefined) sendAsset(request, response, asset);
    else if (url.pathname.startsWith('/api/')) await this.#answerApi(request, response, { url, onGranted });
    else throw new PageProblem(404, 'not-found', 'nothing is here; the page is at /');
  }

  #demandHost({ headers: { host = '' } }: IncomingMessage): void {
    if (!this.#settings.onlyLoopbackNames || LOOPBACK_NAME.test(host)) return;
    throw new PageProblem(
      403,
      'forbidden',
      'the page is for this host alone: open it as http://127.0.0.1 or http://localhost with its port',
    );
  }

  async #answerApi(
    request: IncomingMessage,
    response: ServerResponse,
    { url, onGranted }: { readonly url: URL; readonly onGranted: OnGranted },
  ): Promise<void> {
    response.setHeader('cache-control', 'no-store');
    const decide = () => this.#settings.access.decide(tokenIn(request), request.socket.remoteAddress ?? '');
    const decision = await decide();
    if (decision.kind === 'refused') {
      sendRefusal(response, decision);
      return;
    }
    onGranted(decision.user);
    if (url.pathname === '/api/events' && request.method === 'GET') {
      this.#streams.open({ response, query: url.searchParams, granted: decision, decide });
      return;
    }
    const { user, sections } = decision;
    const path = url.pathname.slice('/api/'.length);
    const asked = { path, query: url.searchParams, user, sections, isWaiting: () => !response.destroyed };
    sendText(response, 200, path === 'events' ? '{}' : await answerApi(this.#page, asked));
  }

  /** An error costs one answer, never the process. */
  #fail(response: ServerResponse, error: unknown): void {
    if (error instanceof PageProblem) {
      sendJson(response, error.status, { error: error.reason, message: error.message } satisfies PageError);
      return;
    }
    this.#failures.report(error);
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: 'internal-error', message: 'the log of the server has the cause' } satisfies PageError);
  }
}

/** Undefined if there is none. */
function tokenIn({ headers: { authorization } }: IncomingMessage): string | undefined {
  return /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trim();
}

function sendRefusal(response: ServerResponse, decision: AccessDecision & { readonly kind: 'refused' }): void {
  const { status, error, message, retryAfterSeconds } = decision;
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  sendJson(response, status, { error, message } satisfies PageError);
}

function sendAsset({ headers }: IncomingMessage, response: ServerResponse, { body, zipped, contentType, etag }: Asset): void {
  // Browsers must revalidate, because another version of the program has other files with the same names.
  response.setHeader('cache-control', 'no-cache');
  response.setHeader('etag', etag);
  response.setHeader('vary', 'accept-encoding');
  if (headers['if-none-match']?.split(',').some((one) => one.trim() === etag)) {
    response.writeHead(304);
    response.end();
    return;
  }
  const isZipped = zipped !== undefined && acceptsGzip(headers['accept-encoding']);
  const sent = isZipped ? zipped : body;
  if (isZipped) response.setHeader('content-encoding', 'gzip');
  response.writeHead(200, { 'content-type': contentType, 'content-length': sent.length });
  response.end(sent);
}

function acceptsGzip(accepted = ''): boolean {
  return accepted.split(',').some((one) => /^\s*gzip\s*(;|$)/i.test(one) && !/q=0(\.0*)?\s*$/i.test(one));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, JSON.stringify(value));
}

/** @param text - JSON. */
function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return;
  const body = Buffer.from(text);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
