/** The target of the part of the address behind `#`. */
export type PageRoute =
  | { readonly view: 'overview' }
  | { readonly view: 'pool'; readonly pool: string; readonly address: string }
  | { readonly view: 'leases'; readonly search: string; readonly pool: string }
  | { readonly view: 'machines' }
  | { readonly view: 'agents' }
  | { readonly view: 'wake-on-lan' }
  | { readonly view: 'hosts' }
  /** No such view. */
  | { readonly view: 'unknown'; readonly hash: string };

const PLAIN_VIEWS = ['overview', 'machines', 'agents', 'wake-on-lan', 'hosts'] as const;

/** The route of `location.hash`. Never throws, because a person may have typed anything. */
export function parseRoute(hash: string): PageRoute {
  const [path, query] = splitOnce(hash.replace(/^#\/?/, ''), '?');
  const parameters = new URLSearchParams(query);
  const [view = '', ...rest] = path.split('/').map(decode);
  if (isPlainView(view)) return { view };
  switch (view) {
    case '':
      return { view: 'overview' };
    case 'pools':
      return parsePoolRoute(rest, parameters, hash);
    case 'leases':
      return { view, search: parameters.get('search') ?? '', pool: parameters.get('pool') ?? '' };
    default:
      return { view: 'unknown', hash };
  }
}

/** The hash of a route: `parseRoute(formatRoute(route))` is the route. */
export function formatRoute(route: PageRoute): string {
  switch (route.view) {
    case 'overview':
      return '#/';
    case 'pool': {
      const [namespace, name] = splitOnce(route.pool, '/');
      const path = `#/pools/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
      return path + formatQuery({ address: route.address });
    }
    case 'leases':
      return `#/leases${formatQuery({ search: route.search, pool: route.pool })}`;
    case 'unknown':
      return route.hash;
    case 'machines':
    case 'agents':
    case 'wake-on-lan':
    case 'hosts':
      return `#/${route.view}`;
  }
}

/** Whether nothing follows the name of the view. */
function isPlainView(view: string): view is (typeof PLAIN_VIEWS)[number] {
  return (PLAIN_VIEWS as readonly string[]).includes(view);
}

function parsePoolRoute(rest: readonly string[], parameters: URLSearchParams, hash: string): PageRoute {
  const [namespace = '', name = '', ...more] = rest;
  if (namespace === '' || name === '' || more.length > 0) return { view: 'unknown', hash };
  return { view: 'pool', pool: `${namespace}/${name}`, address: parameters.get('address') ?? '' };
}

function formatQuery(values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  return query.size === 0 ? '' : `?${query}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
