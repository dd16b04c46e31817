/** How answers are written. */
import { type IncomingMessage, type OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../api-error.js';
import type { Json } from '../api-object.js';
import { internalError, statusOf } from '../failures.js';
import type { Answer } from './resource-handler.js';

export const plainText = 'text/plain; charset=utf-8';
export const pageNotFound: Answer = { status: 404, contentType: plainText, body: Buffer.from('404 page not found\n') };

export function json(body: Json): Answer {
  return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) };
}

export function failureAnswer(error: unknown): Answer & { readonly retryAfterSeconds?: number } {
  const failure =
    error instanceof ApiError ? error : internalError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { code, retryAfterSeconds } = failure.failure;
  return { ...json(statusOf(failure)), status: code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer & { readonly warnings: readonly string[]; readonly retryAfterSeconds?: number },
): void {
  if (response.headersSent || response.destroyed) return;
  const headers: Record<string, OutgoingHttpHeader | undefined> = {
    ...(answer.headers ?? { 'content-type': answer.contentType, 'cache-control': 'no-cache, private' }),
    'content-length': answer.body.length,
  };
  if (answer.retryAfterSeconds !== undefined) headers['retry-after'] = String(answer.retryAfterSeconds);
  if (answer.warnings.length > 0) headers['warning'] = [...new Set(answer.warnings)].map(warningHeader);
  response.writeHead(answer.status, headers);
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

/** Source: RFC 7234 §5.5: code, agent (none), quoted text. */
function warningHeader(text: string): string {
  return `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Refuses a request for another protocol: the connection ends with the answer. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, error: unknown): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  send(request, response, { ...failureAnswer(error), warnings: [] });
}
