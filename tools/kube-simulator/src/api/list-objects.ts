import { ApiError, type Cause } from '../api-error.js';
import { badRequest, expired, invalidOptions, tooLargeResourceVersion } from '../failures.js';
import type { StoredObject } from '../store/collection.js';
import { type ApiCall, type ApiContext, collectionOf, fromStored } from './api-call.js';
import { formatContinueToken, parseContinueToken } from './continue-token.js';
import { compileSelectors, type Matches } from './selectors.js';

export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
}

export interface ListResult {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: number;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

/** One page of the objects of a kind. Throws ApiError 410 if the page's state is forgotten. */
export function listObjects(context: ApiContext, call: ApiCall, options: ListOptions): ListResult {
  assertListOptions(options);
  const matches = compileSelectors(call.type, options);
  const { resourceVersion = '' } = options;
  const token = options.continueToken ?? '';
  if (token !== '') return listPage(context, call, { options, matches, ...continued(options) });
  assertKnown(context, resourceVersion);
  // The cache that answers resourceVersion=0 does not support pages.
  const limit = resourceVersion === '0' ? 0 : (options.limit ?? 0);
  const at = options.resourceVersionMatch === 'Exact' ? Number(resourceVersion) : undefined;
  return listPage(context, call, { options: { ...options, limit }, matches, at, after: '' });
}

function assertListOptions(options: ListOptions): void {
  const { resourceVersion = '', resourceVersionMatch: match = '', continueToken: token = '' } = options;
  if (token !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const refusal = match === '' ? undefined : matchRefusal(match, resourceVersion);
  if (refusal !== undefined) throw invalidOptions('ListOptions', [{ ...refusal, field: 'resourceVersionMatch' }]);
}

function matchRefusal(match: string, resourceVersion: string): Omit<Cause, 'field'> | undefined {
  const forbidden = (why: string): Omit<Cause, 'field'> => ({ reason: 'FieldValueForbidden', message: `Forbidden: ${why}` });
  if (resourceVersion === '') return forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    return { reason: 'FieldValueNotSupported', message };
  }
  if (match === 'NotOlderThan' || resourceVersion !== '0') return undefined;
  return forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}

/** Refuses a resourceVersion that is not a number, or that no write has had yet. */
export function assertKnown(context: ApiContext, resourceVersion: string): void {
  if (resourceVersion === '') return;
  if (!/^\d+$/.test(resourceVersion)) {
    const value = JSON.stringify(resourceVersion);
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`,
    );
  }
  if (Number(resourceVersion) > context.store.resourceVersion) {
    throw tooLargeResourceVersion(resourceVersion, context.store.resourceVersion);
  }
}

function continued(options: ListOptions): { readonly at: number | undefined; readonly after: string } {
  const token = parseContinueToken(options.continueToken ?? '');
  return { at: token.resourceVersion === -1 ? undefined : token.resourceVersion, after: token.after };
}

interface Page {
  readonly options: ListOptions;
  readonly matches: Matches | undefined;
  /** The state to show; absent: the current one. */
  readonly at: number | undefined;
  /** The last key of the page before. */
  readonly after: string;
}

function listPage(context: ApiContext, call: ApiCall, page: Page): ListResult {
  const { at = context.store.resourceVersion } = page;
  const entries = entriesOf(context, call, page);
  const limit = Math.max(0, page.options.limit ?? 0);
  const items: StoredObject[] = [];
  let last = '';
  let index = 0;
  for (; index < entries.length && (limit === 0 || items.length < limit); index += 1) {
    const [key, stored] = entries[index] as readonly [string, StoredObject];
    last = key;
    if (page.matches === undefined || page.matches(fromStored(call.type, stored))) items.push(stored);
  }
  if (!anyLeft(call, page, entries.slice(index))) return { items, resourceVersion: at };
  return {
    items,
    resourceVersion: at,
    continueToken: formatContinueToken({ resourceVersion: at, after: last }),
    // With a selector there is no count.
    ...(page.matches === undefined ? { remainingItemCount: entries.length - index } : {}),
  };
}

type Entries = readonly (readonly [string, StoredObject])[];

/** A page that ends the list has no continue token, although more objects may follow that the selector does not want. */
function anyLeft(call: ApiCall, { matches }: Page, rest: Entries): boolean {
  if (matches === undefined) return rest.length > 0;
  return rest.some(([, stored]) => matches(fromStored(call.type, stored)));
}

function entriesOf(context: ApiContext, call: ApiCall, { at, after, options }: Page): Entries {
  const collection = collectionOf(context, call.type);
  const prefix = call.type.namespaced && call.attributes.namespace !== '' ? `${call.attributes.namespace}/` : '';
  if (at === undefined) return [...collection.entries(prefix, after)];
  const entries = collection.entriesAt(at, prefix);
  if (entries === undefined) throw forgotten(options, after);
  return after === '' ? entries : entries.filter(([key]) => key > after);
}

const inconsistent =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The error for a page that is not available any more contains a token to continue at the current state. */
function forgotten(options: ListOptions, after: string): ApiError {
  if ((options.continueToken ?? '') === '') return expired('The resourceVersion for the provided list is too old.');
  const { failure } = expired(inconsistent);
  return new ApiError({ ...failure, continueToken: formatContinueToken({ resourceVersion: -1, after }) });
}
