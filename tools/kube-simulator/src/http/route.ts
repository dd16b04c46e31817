/** What a URL asks for, before anyone checks whether it exists. */
export interface Route {
  readonly isResourceRequest: boolean;
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const noQuery = new URLSearchParams();

/** Source: k8s.io/apiserver/pkg/endpoints/request RequestInfoFactory. */
export function parseRoute(method: string, url: string): Route {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
  const other = { isResourceRequest: false, verb: method.toLowerCase(), path, query, ...nothing };
  const parts = path.split('/').filter((part) => part !== '');
  const place = versionOf(parts);
  if (place === undefined) return other;
  const target = targetOf(place.rest);
  if (target === undefined) return other;
  const { isOldWatch, ...named } = target;
  return {
    isResourceRequest: true,
    verb: verbOf({ method, query, isOldWatch, named: named.name !== '' }),
    path,
    query,
    group: place.group,
    version: place.version,
    ...named,
  };
}

const nothing = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };

function versionOf(parts: readonly string[]): { group: string; version: string; rest: readonly string[] } | undefined {
  const [prefix, first, second] = parts;
  if (prefix === 'api' && first !== undefined && parts.length > 2) return { group: '', version: first, rest: parts.slice(2) };
  if (prefix !== 'apis' || first === undefined || second === undefined || parts.length < 4) return undefined;
  return { group: first, version: second, rest: parts.slice(3) };
}

interface Target {
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The path has the old `/watch/` in it. */
  readonly isOldWatch: boolean;
}

function targetOf(parts: readonly string[]): Target | undefined {
  const isOldWatch = parts[0] === 'watch';
  const rest = (isOldWatch ? parts.slice(1) : parts).map(decodeURIComponent);
  if (rest.length === 0) return undefined;
  const [resource, name = ''] = rest;
  if (resource !== 'namespaces') return { ...named(rest), namespace: '', isOldWatch };
  const isInside = rest.length > 2 && !namespaceSubresources.has(rest[2] ?? '');
  return { ...named(isInside ? rest.slice(2) : rest), namespace: name, isOldWatch };
}

function named([resource = '', name = '', ...sub]: readonly string[]): Pick<Target, 'resource' | 'name' | 'subresource'> {
  return { resource, name, subresource: sub.join('/') };
}

const namespaceSubresources = new Set(['status', 'finalize']);

function verbOf(request: { method: string; query: URLSearchParams; isOldWatch: boolean; named: boolean }): string {
  const verb = verbs[request.method] ?? '';
  if (verb === 'get' && request.isOldWatch) return 'watch';
  if (request.named) return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  const watch = request.query.get('watch');
  return watch === 'true' || watch === '1' ? 'watch' : 'list';
}
