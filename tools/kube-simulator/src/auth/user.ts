import type { User } from '../request-user.js';

export const anonymousUser: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

export const adminUser: User = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

const serviceAccountPrefix = 'system:serviceaccount:';

/** The user that a ServiceAccount acts as. */
export const serviceAccountUser = (namespace: string, name: string): User => ({
  username: `${serviceAccountPrefix}${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** Namespace and name of the ServiceAccount that a user name stands for; undefined for every other user. */
export const parseServiceAccountUser = (username: string): { namespace: string; name: string } | undefined => {
  if (!username.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace, name, ...rest] = username.slice(serviceAccountPrefix.length).split(':');
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
};

/** The user as `userInfo` of an AdmissionReview and `status.user` of a TokenReview show it. */
export const toUserInfo = (user: User) => ({
  username: user.username,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: user.groups,
  ...(user.extra === undefined ? {} : { extra: user.extra }),
});
