import type { Failure } from '../api-error.js';
import type { RequestAttributes } from '../request/request-chain.js';

/** The answer to a request with unknown credentials. */
export const unauthorized: Failure = { code: 401, reason: 'Unauthorized', message: 'Unauthorized' };

/** The answer to a request that RBAC does not allow. */
export const forbidden = (request: RequestAttributes): Failure =>
  request.isResourceRequest
    ? forbiddenResource(request)
    : {
        code: 403,
        reason: 'Forbidden',
        message: `forbidden: User "${request.user.username}" cannot ${request.verb} path "${request.path}"`,
        details: {},
      };

const forbiddenResource = (request: RequestAttributes): Failure => {
  const { group, resource, name } = request;
  const what = group === '' ? resource : `${resource}.${group}`;
  return {
    code: 403,
    reason: 'Forbidden',
    message: `${what}${name === '' ? '' : ` "${name}"`} is forbidden: ${describeDenial(request)}`,
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  };
};

const describeDenial = ({ user, verb, group, resource, subresource, namespace }: RequestAttributes): string => {
  const target = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.username}" cannot ${verb} resource "${target}" in API group "${group}" ${scope}`;
};
