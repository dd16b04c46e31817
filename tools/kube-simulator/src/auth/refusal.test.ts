import { expect, it } from 'vitest';
import type { RequestAttributes } from '../request/request-chain.js';
import { forbidden } from './refusal.js';

const user = { username: 'limited', groups: [] };
const request = { user, path: '', isResourceRequest: true, version: '', subresource: '', name: '' };
const pools = { ...request, group: 'network.example.com', resource: 'ippools', namespace: 's16' };

it.each<[RequestAttributes, string, object]>([
  [
    { ...pools, verb: 'list' },
    'ippools.network.example.com is forbidden: User "limited" cannot list resource "ippools" in API group "network.example.com" in the namespace "s16"',
    { group: 'network.example.com', kind: 'ippools' },
  ],
  [
    { ...pools, verb: 'patch', subresource: 'status', name: 'p1' },
    'ippools.network.example.com "p1" is forbidden: User "limited" cannot patch resource "ippools/status" in API group "network.example.com" in the namespace "s16"',
    { name: 'p1', group: 'network.example.com', kind: 'ippools' },
  ],
  [
    { ...pools, verb: 'list', namespace: '' },
    'ippools.network.example.com is forbidden: User "limited" cannot list resource "ippools" in API group "network.example.com" at the cluster scope',
    { group: 'network.example.com', kind: 'ippools' },
  ],
  [
    { ...request, verb: 'list', group: '', resource: 'pods', namespace: 's16' },
    'pods is forbidden: User "limited" cannot list resource "pods" in API group "" in the namespace "s16"',
    { kind: 'pods' },
  ],
  [
    { ...pools, isResourceRequest: false, verb: 'get', path: '/metrics' },
    'forbidden: User "limited" cannot get path "/metrics"',
    {},
  ],
])('%#: the words of a refusal', (request, message, details) => {
  expect(forbidden(request)).toEqual({ code: 403, reason: 'Forbidden', message, details });
});
