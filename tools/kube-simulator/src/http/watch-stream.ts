import type { ServerResponse } from 'node:http';
import { type ApiCall, type ApiContext, fromStored, jsonOf } from '../api/api-call.js';
import { listObjects } from '../api/list-objects.js';
import { compileSelectors, type Matches } from '../api/selectors.js';
import { changesSince, type WatchedChange, watchChanges } from '../api/watch-objects.js';
import type { ApiError } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { expired, internalError, invalidOptions, statusOf } from '../failures.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import type { StoredObject } from '../store/collection.js';
import { type IncludeObject, partialObject, tableOfObject } from './answer-forms.js';
import type { AnswerForm } from './negotiate.js';

export interface WatchRequest {
  readonly call: ApiCall;
  readonly query: URLSearchParams;
  readonly form: AnswerForm;
  readonly includeObject: IncludeObject;
}

const bookmarkIntervalMs = 60_000;
const defaultTimeoutMs = 30 * 60_000;
/** A watcher that does not read is dropped before its events fill the memory. */
const maxUnreadBytes = 256 * 1024 * 1024;
const newline = Buffer.from('}\n');

/** The events of one watch, written to one response until the client goes, the time is over, or `end` is called. */
export class WatchStream {
  readonly #context: ApiContext;
  readonly #request: WatchRequest;
  readonly #response: ServerResponse;
  readonly #matches: Matches | undefined;
  #hasColumns = false;
  #stopListening: () => void = () => undefined;
  readonly #cancelTimers = new Set<() => void>();

  /** Throws ApiError if the request cannot be parsed, before anything is sent. */
  constructor(context: ApiContext, request: WatchRequest, response: ServerResponse) {
    this.#context = context;
    this.#request = request;
    this.#response = response;
    const { query, call } = request;
    this.#matches = compileSelectors(call.type, {
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
    });
    assertWatchOptions(query);
  }

  get call(): ApiCall {
    return this.#request.call;
  }

  /** Returns when the stream has ended. */
  run(): Promise<void> {
    const response = this.#response;
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        this.#cleanUp();
        resolve();
      });
    });
    this.#start();
    return closed;
  }

  /** Ends the stream without an event, as the real server does when the time is over. */
  end(): void {
    this.#cleanUp();
    this.#response.end();
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#cleanUp();
    this.#response.destroy();
  }

  /** Sends the event that makes the client list again (410), and ends. Does nothing if the stream has ended already. */
  expire(): void {
    if (this.#response.writableEnded) return;
    this.#sendEvent('ERROR', statusOf(expired('The resourceVersion for the provided watch is too old.')));
    this.end();
  }

  #start(): void {
    const { query } = this.#request;
    const resourceVersion = query.get('resourceVersion') ?? '';
    const sendsInitialEvents = query.get('sendInitialEvents');
    const isReplay = resourceVersion !== '' && resourceVersion !== '0';
    const from = Number(resourceVersion);
    if (sendsInitialEvents === 'true' || (!isReplay && sendsInitialEvents === null)) this.#sendExisting();
    else if (isReplay && !this.#replay(from)) return;
    if (sendsInitialEvents === 'true' && this.#wantsBookmarks) this.#sendBookmark({ 'k8s.io/initial-events-end': 'true' });
    this.#stopListening = watchChanges(this.#context, this.call, {
      matches: this.#matches,
      // A resourceVersion in the future: silence until the writes have reached it.
      listener: (change) => {
        if (!isReplay || change.stored.resourceVersion > from) this.#send(change);
      },
    });
    this.#startTimers();
  }

  #sendExisting(): void {
    const { query } = this.#request;
    const { items } = listObjects(this.#context, this.call, {
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
    });
    for (const stored of items) this.#send({ type: 'ADDED', stored, previous: undefined });
  }

  /** Returns false when the changes are forgotten: the stream has ended with an ERROR event. */
  #replay(resourceVersion: number): boolean {
    const changes = changesSince(this.#context, this.call, { matches: this.#matches, resourceVersion });
    if (changes === undefined) {
      this.#sendEvent('ERROR', statusOf(tooOld(this.#context, this.call.type, resourceVersion)));
      this.end();
      return false;
    }
    for (const change of changes) this.#send(change);
    return true;
  }

  #startTimers(): void {
    const seconds = Number(this.#request.query.get('timeoutSeconds') ?? 0);
    const timeoutMs = seconds > 0 ? seconds * 1000 : defaultTimeoutMs * (1 + Math.random());
    this.#after(timeoutMs, () => this.end());
    if (!this.#wantsBookmarks) return;
    this.#sendBookmarksEachMinute();
    // The last bookmarks let the client continue from where it is.
    for (const beforeMs of [2000, 1000]) if (timeoutMs > beforeMs) this.#after(timeoutMs - beforeMs, () => this.#sendBookmark());
  }

  #sendBookmarksEachMinute(): void {
    this.#after(bookmarkIntervalMs, () => {
      this.#sendBookmark();
      this.#sendBookmarksEachMinute();
    });
  }

  #after(delayMs: number, action: () => void): void {
    const cancel = this.#context.watchTimer(delayMs, () => {
      this.#cancelTimers.delete(cancel);
      action();
    });
    this.#cancelTimers.add(cancel);
  }

  get #wantsBookmarks(): boolean {
    return this.#request.query.get('allowWatchBookmarks') === 'true' || this.#request.query.get('allowWatchBookmarks') === '1';
  }

  #sendBookmark(annotations?: JsonObject): void {
    const { type } = this.call;
    const resourceVersion = String(this.#context.store.resourceVersion);
    const metadata = annotations === undefined ? { resourceVersion } : { annotations, resourceVersion };
    const empty = { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
    this.#sendObject('BOOKMARK', type.strategy.canonical(empty, undefined));
  }

  #send(change: WatchedChange): void {
    if (this.#request.form.as === 'object') this.#write(frameOf(this.call.type, change));
    else this.#sendObject(change.type, fromStored(this.call.type, change.stored));
  }

  #sendObject(type: string, object: ApiObject): void {
    this.#sendEvent(type, this.#toForm(object));
  }

  #toForm(object: ApiObject): JsonObject {
    const { form, includeObject } = this.#request;
    if (form.as === 'object') return object;
    if (form.as === 'partial') return partialObject(object, form.metaVersion);
    const withColumns = !this.#hasColumns;
    this.#hasColumns = true;
    return tableOfObject(this.call.type, object, { metaVersion: form.metaVersion, includeObject, withColumns });
  }

  #sendEvent(type: string, object: JsonObject): void {
    this.#write(Buffer.from(`${JSON.stringify({ type, object })}\n`));
  }

  #write(frame: Buffer): void {
    this.#response.write(frame);
    if (this.#response.writableLength > maxUnreadBytes) this.destroy();
  }

  #cleanUp(): void {
    this.#stopListening();
    for (const cancel of this.#cancelTimers) cancel();
    this.#cancelTimers.clear();
  }
}

const frames = new WeakMap<StoredObject, Map<string, Buffer>>();

/** The event as it goes over the wire: made once, written to every watcher. */
function frameOf(type: ResourceType, { type: event, stored }: WatchedChange): Buffer {
  const known = frames.get(stored) ?? new Map<string, Buffer>();
  const key = `${event} ${type.group}/${type.version}`;
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const frame = Buffer.concat([Buffer.from(`{"type":"${event}","object":`), jsonOf(type, stored), newline]);
  known.set(key, frame);
  frames.set(stored, known);
  return frame;
}

/** Events of core/v1 have no watch cache in the real server, and another text. */
function tooOld(context: ApiContext, type: ResourceType, resourceVersion: number): ApiError {
  if (type.storage === '/events') return expired('The resourceVersion for the provided watch is too old.');
  const oldest = context.store.collection(type.storage).forgottenResourceVersion;
  return expired(`too old resource version: ${resourceVersion} (${oldest})`);
}

function assertWatchOptions(query: URLSearchParams): void {
  const resourceVersion = query.get('resourceVersion') ?? '';
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion)) {
    const value = JSON.stringify(resourceVersion);
    throw internalError(`resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`);
  }
  const sendsInitialEvents = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (message: string): ApiError =>
    invalidOptions('ListOptions', [{ reason: 'FieldValueForbidden', message, field: 'resourceVersionMatch' }]);
  if (sendsInitialEvents !== null && match !== 'NotOlderThan') {
    throw refuse('Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (sendsInitialEvents === null && match !== '') {
    throw refuse('Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
}
