import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoute, type PageRoute, parseRoute } from './page-route.js';

describe('routes of the page', () => {
  it.each<[string, PageRoute]>([
    ['', { view: 'overview' }],
    ['#', { view: 'overview' }],
    ['#/', { view: 'overview' }],
    ['#/overview', { view: 'overview' }],
    ['#/pools/default/net-48', { view: 'pool', pool: 'default/net-48', address: '' }],
    ['#/pools/default/net-48?address=192.168.48.17', { view: 'pool', pool: 'default/net-48', address: '192.168.48.17' }],
    ['#/leases', { view: 'leases', search: '', pool: '' }],
    ['#/leases?search=web%26db&pool=default/net-48', { view: 'leases', search: 'web&db', pool: 'default/net-48' }],
    ['#/machines', { view: 'machines' }],
    ['#/agents', { view: 'agents' }],
    ['#/wake-on-lan', { view: 'wake-on-lan' }],
    ['#/hosts', { view: 'hosts' }],
  ])('%s', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it.each(['#/pools', '#/pools/default', '#/pools/default/', '#/pools/a/b/c', '#/constructor', '#/%ff', '#content'])(
    '%s is not a view',
    (hash) => {
      expect(parseRoute(hash)).toEqual({ view: 'unknown', hash });
    },
  );

  it('law: a formatted route can be parsed, whatever the names contain', () => {
    const name = fc.string({ minLength: 1 });
    const routes = fc.oneof(
      fc.record({
        view: fc.constant('pool' as const),
        // A namespace has no slash: it ends at the first one.
        pool: fc.tuple(name, name).map(([namespace, of]) => `${namespace.replaceAll('/', '') || 'a'}/${of}`),
        address: fc.string(),
      }),
      fc.record({ view: fc.constant('leases' as const), search: fc.string(), pool: fc.string() }),
    );
    fc.assert(
      fc.property(routes, (route) => {
        expect(parseRoute(formatRoute(route))).toEqual(route);
      }),
    );
  });

  it('law: no hash throws', () => {
    fc.assert(fc.property(fc.string(), (hash) => void parseRoute(hash)));
  });
});
