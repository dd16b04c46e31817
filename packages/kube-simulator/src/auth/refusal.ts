import type { Failure } from '../api-error.js';
import type { RequestAttributes, ResourceAttributes } from './request-attributes.js';

/** What a request with credentials that nobody knows is answered with. */
export const unauthorized: Failure = { code: 401, reason: 'Unauthorized', message: 'Unauthorized' };

/** What a request is answered with that RBAC does not allow. */
export const forbidden = (request: RequestAttributes): Failure =>
  'path' in request
    ? {
        code: 403,
        reason: 'Forbidden',
        message: `forbidden: User "${request.user.username}" cannot ${request.verb} path "${request.path}"`,
        details: {},
      }
    : forbiddenResource(request);

const forbiddenResource = (request: ResourceAttributes): Failure => {
  const { group, resource, name } = request;
  const what = group === '' ? resource : `${resource}.${group}`;
  return {
    code: 403,
    reason: 'Forbidden',
    message: `${what}${name === undefined ? '' : ` "${name}"`} is forbidden: ${describeDenial(request)}`,
    details: { ...(name === undefined ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  };
};

const describeDenial = ({ user, verb, group, resource, subresource, namespace }: ResourceAttributes): string => {
  const target = subresource === undefined ? resource : `${resource}/${subresource}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.username}" cannot ${verb} resource "${target}" in API group "${group}" ${scope}`;
};
