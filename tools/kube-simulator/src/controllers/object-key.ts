import type { ApiObject } from '../api-object.js';

/** Namespace and name as one string. */
export const keyOf = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** Namespace and name out of a key. */
export const parseKey = (key: string): { namespace: string; name: string } => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};
