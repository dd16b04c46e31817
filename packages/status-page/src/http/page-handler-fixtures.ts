/** A page on a real socket, over pools in memory. */
import { once } from 'node:events';
import http from 'node:http';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import type { AccessDecision } from '../access/page-access.js';
import { SECTIONS, type Section, type SectionAccess } from '../model/page-data.js';
import { VersionedPools } from '../pool/versioned-pools.js';
import { type PageSource, POOLS_ALONE, type SourceChange } from '../source/page-source.js';
import type { PageHandlerSettings } from './page-handler.js';
import { PageServer } from './page-server.js';

export function granted(user: string | null, shown: readonly Section[] = SECTIONS): AccessDecision {
  const sections = Object.fromEntries(
    SECTIONS.map((section): [Section, SectionAccess] => [
      section,
      shown.includes(section) ? { kind: 'shown' } : { kind: 'denied', right: `list ${section}` },
    ]),
  ) as Record<Section, SectionAccess>;
  return { kind: 'granted', user, sections };
}

/** @param ofSource - overrides for its source. */
export async function servePage(difference: Partial<PageHandlerSettings> = {}, ofSource: Partial<PageSource> = {}) {
  const clock = new FakeClock();
  const objects = new Map<string, KubernetesObject>();
  const listeners = new Set<(change: SourceChange) => void>();
  const followed = new VersionedPools({ get: (key) => objects.get(key), values: () => objects.values() }, 'one');
  const errors: unknown[] = [];
  const decisions = { next: granted('ann') };
  const body = Buffer.from('<!doctype html>');
  const server = await PageServer.start({
    source: {
      ...POOLS_ALONE,
      kind: 'cluster',
      unready: () => [],
      machineOf: () => 'default/web',
      pools: () => followed.all(),
      pool: (key) => followed.get(key),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ...ofSource,
    },
    access: { decide: async () => decisions.next },
    assets: new Map([
      ['/', { body, contentType: 'text/html; charset=utf-8', etag: '"1"' }],
      ['/assets/style.css', { body, contentType: 'text/css; charset=utf-8', etag: '"2"' }],
    ]),
    clock,
    wallTimeMs: () => 1_000,
    instance: 'one',
    version: '1.2.3',
    servedBy: 'pod-1',
    onlyLoopbackNames: false,
    onError: (error) => errors.push(error),
    listen: { host: '127.0.0.1', port: 0 },
    certificate: undefined,
    ...difference,
  });
  return {
    server,
    clock,
    errors,
    decisions,
    put: (object: KubernetesObject, key = `default/${object.metadata.name}`) => {
      objects.set(key, object);
      for (const listener of listeners) listener({ section: 'pools', pool: key });
    },
    get: (path: string, options: http.RequestOptions = {}) => request(server.port, path, options),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** `path` is sent unchanged. */
export async function request(port: number, path: string, options: http.RequestOptions = {}): Promise<Answer> {
  const sent = http.request({ host: '127.0.0.1', port, path, agent: false, ...options }).end();
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() };
}

/** Reads the text of an event stream as it arrives. */
export async function openStream(port: number, path = '/api/events', options: http.RequestOptions = {}) {
  const sent = http.request({ host: '127.0.0.1', port, path, agent: false, ...options }).end();
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
  let text = '';
  const changed = new EventTarget();
  response.setEncoding('utf8');
  response.on('data', (part: string) => {
    text += part;
    changed.dispatchEvent(new Event('data'));
  });
  const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
  for (const one of [sent, response]) one.on('error', () => undefined);
  const until = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) await once(changed, 'data');
  };
  return { response, until, closed, text: () => text, close: () => sent.destroy() };
}
