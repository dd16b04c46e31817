import { expect, it } from 'vitest';
import { parseRoute } from './route.js';

it.each([
  ['GET', '/api/v1/pods', 'list', '/v1/pods', '', ''],
  ['GET', '/api/v1/pods?watch=1', 'watch', '/v1/pods', '', ''],
  ['GET', '/api/v1/pods?watch=true', 'watch', '/v1/pods', '', ''],
  ['GET', '/api/v1/namespaces/ns/pods/p?watch=1', 'get', '/v1/pods', 'ns', 'p'],
  ['GET', '/api/v1/watch/namespaces/ns/pods', 'watch', '/v1/pods', 'ns', ''],
  ['POST', '/api/v1/namespaces', 'create', '/v1/namespaces', '', ''],
  ['GET', '/api/v1/namespaces/ns', 'get', '/v1/namespaces', 'ns', 'ns'],
  ['PUT', '/api/v1/namespaces/ns/finalize', 'update', '/v1/namespaces/finalize', 'ns', 'ns'],
  ['PATCH', '/apis/apps/v1/namespaces/ns/deployments/d/status', 'patch', 'apps/v1/deployments/status', 'ns', 'd'],
  ['DELETE', '/apis/apps/v1/namespaces/ns/deployments', 'deletecollection', 'apps/v1/deployments', 'ns', ''],
  ['DELETE', '/apis/apps/v1/namespaces/ns/deployments/d', 'delete', 'apps/v1/deployments', 'ns', 'd'],
  ['GET', '/apis/example.com/v1/widgets/a%2Fb', 'get', 'example.com/v1/widgets', '', 'a/b'],
])('%s %s is %s of %s in "%s" named "%s"', (method, url, verb, path, namespace, name) => {
  const route = parseRoute(method, url);
  const subresource = route.subresource === '' ? '' : `/${route.subresource}`;
  expect({ ...route, path: `${route.group}/${route.version}/${route.resource}${subresource}` }).toMatchObject({
    isResourceRequest: true,
    verb,
    path,
    namespace,
    name,
  });
});

it.each(['/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz', '/simulator/faults'])(
  '%s is not a resource',
  (path) => {
    expect(parseRoute('GET', path)).toMatchObject({ isResourceRequest: false, verb: 'get', path });
  },
);
