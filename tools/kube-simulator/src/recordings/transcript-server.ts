import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../api-object.js';
import { PassingTime } from './passing-time.js';
import { splitPlaceholders } from './placeholders.js';
import type { RecordingTarget } from './recording-target.js';
import { sizeOfGap } from './reduced-object.js';
import { isJsonObject, type Step, type Transcript } from './transcript.js';

/**
 * A server that answers as recorded, with other uids, times, tokens and resourceVersions: replaying the transcript
 * against it must find no difference, or the comparison itself is wrong.
 */
export async function startTranscriptServer(transcript: Transcript): Promise<RecordingTarget> {
  const values = new Map<string, string>();
  const time = new PassingTime();
  const server = createServer((request, response) => {
    request.resume();
    const step = transcript.steps[Number(request.headers['x-recorded-step'])];
    if (step?.response === undefined) return response.writeHead(501).end();
    return answer(step, request, { response, time, change: (value) => changed(value, values) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: { admin: 'admin', limited: 'limited' },
    compact: () => Promise.resolve(),
    passTime: (ms) => time.pass(ms),
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Reply {
  readonly response: ServerResponse;
  readonly time: PassingTime;
  /** A recorded value as this server has it. */
  readonly change: (value: Json) => Json;
}

function answer(step: Step, request: IncomingMessage, { response, time, change }: Reply): void {
  const { status = 0, headers = {}, body } = step.response ?? {};
  if (status === 0) {
    request.socket.destroy();
    return;
  }
  response.writeHead(status, headers);
  if (step.watch === undefined || body !== undefined) {
    const changedBody = change(body ?? null);
    response.end(typeof changedBody === 'string' ? changedBody : JSON.stringify(changedBody));
    return;
  }
  sendEvents(step, { response, time, change });
}

function sendEvents({ events = [], closed = '' }: Step, { response, time, change }: Reply): void {
  for (const event of withGapsFilled(events)) response.write(`${JSON.stringify(change(event))}\n`);
  response.flushHeaders();
  const seconds = /^by server after (\d+) s$/.exec(closed)?.[1];
  if (seconds === '0') response.end();
  else if (seconds !== undefined) time.timer(Number(seconds) * 1000, () => response.end());
}

function withGapsFilled(events: readonly Json[]): readonly Json[] {
  return events.flatMap((event) => {
    const total = sizeOfGap(event);
    return total === undefined ? [event] : Array.from({ length: total - events.length + 1 }, () => ({ type: 'LEFT OUT' }));
  });
}

function changed(value: Json, values: Map<string, string>): Json {
  if (typeof value === 'string') return changedText(value, values);
  if (Array.isArray(value)) return value.map((item: Json) => changed(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      return [key, key === 'resourceVersion' ? changedVersion(item ?? null) : changed(item ?? null, values)];
    }),
  );
}

function changedVersion(version: Json): Json {
  return typeof version === 'string' && /^\d+$/.test(version) ? String(Number(version) * 2 + 7) : version;
}

function changedText(text: string, values: Map<string, string>): string {
  return splitPlaceholders(text)
    .map((part) => {
      if (typeof part === 'string' || part.kind === 'string') return typeof part === 'string' ? part : part.name;
      const known = values.get(part.name) ?? newValue(part.kind);
      values.set(part.name, known);
      return known;
    })
    .join('');
}

function newValue(kind: string): string {
  const now = new Date().toISOString();
  const made: Record<string, string> = {
    uid: randomUUID(),
    time: `${now.slice(0, 19)}Z`,
    microtime: `${now.slice(0, -1)}000Z`,
    'host:port': '127.0.0.1:1234',
    fingerprint: randomUUID().replaceAll('-', ''),
  };
  return made[kind] ?? Buffer.from(`${kind} ${randomUUID()}`).toString('base64url');
}
