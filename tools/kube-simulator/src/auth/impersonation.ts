import type { RequestAttributes } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { parseServiceAccountUser, serviceAccountUser } from './user.js';

/** The user whom the headers of a request ask to act as. */
export interface Impersonation {
  readonly user: User;
  /** The rights that the real user needs for it: all of them. */
  readonly needs: readonly RequestAttributes[];
}

/** The impersonation that `Impersonate-User` and `Impersonate-Group` ask for; undefined without them. */
export const readImpersonation = (
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  user: User,
): Impersonation | undefined => {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string' || username === '') return undefined;
  const asked = [headers['impersonate-group'] ?? []].flat().filter((group) => group !== '');
  const account = parseServiceAccountUser(username);
  const own = account === undefined ? [] : serviceAccountUser(account.namespace, account.name).groups;
  const groups = [...new Set([...(asked.length > 0 ? asked : own), 'system:authenticated'])];
  const need = (resource: string, name: string, namespace = ''): RequestAttributes => {
    const where = { path: '', isResourceRequest: true, group: '', version: '', subresource: '' };
    return { ...where, user, verb: 'impersonate', resource, name, namespace };
  };
  const who = account === undefined ? need('users', username) : need('serviceaccounts', account.name, account.namespace);
  return { user: { username, groups }, needs: [who, ...asked.map((group) => need('groups', group))] };
};
