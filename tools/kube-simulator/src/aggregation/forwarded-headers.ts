import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { User } from '../request-user.js';

/** Headers of one connection, which end at a proxy. Source: RFC 9110 §7.6.1. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that a proxy hands on, in either direction. */
export const endToEnd = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));

/**
 * The headers of a request to an aggregated server: the client's headers without its credentials, plus its name and groups.
 *
 * Source: k8s.io/client-go/transport SetAuthProxyHeaders.
 */
export const forwardedHeaders = (headers: IncomingHttpHeaders, user: User): OutgoingHttpHeaders => {
  const kept = Object.entries(endToEnd(headers)).filter(([name]) => !isOfIdentity(name));
  const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [
    `x-remote-extra-${encodeURIComponent(key.toLowerCase())}`,
    [...values],
  ]);
  return {
    ...Object.fromEntries(kept),
    'x-remote-user': user.username,
    'x-remote-group': [...user.groups],
    ...(user.uid === undefined ? {} : { 'x-remote-uid': user.uid }),
    ...Object.fromEntries(extra),
  };
};

const isOfIdentity = (name: string): boolean =>
  name === 'authorization' || name === 'host' || name.startsWith('impersonate-') || name.startsWith('x-remote-');
