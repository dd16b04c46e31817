import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import type { PageState } from '../model/page-data.js';
import { toAttention } from './attention.js';
import { toHostsPage } from './list-hosts.js';

const READY = { type: 'Ready', status: 'True', reason: 'HostAgentsReady' };

it.each<[string, readonly object[], PageState, PageState[]?]>([
  ['agents that serve', [READY, { type: 'SelfIpInUse', status: 'False', reason: 'NoOtherHost' }], 'ok', []],
  ['a leader that cannot serve', [READY, { type: 'CannotServe', status: 'True', reason: 'HostAgentCannotServe' }], 'broken'],
  ['a Secret that cannot be used', [READY, { type: 'Valid', status: 'False', reason: 'HostSecretUnusable' }], 'broken'],
  ['an address that another host uses', [READY, { type: 'SelfIpInUse', status: 'True', reason: 'SelfIpInUse' }], 'broken'],
  ['agents that start', [{ type: 'Ready', status: 'False', reason: 'HostAgentsStarting' }], 'waiting'],
  ['another DHCP server', [READY, { type: 'RogueServer', status: 'True', reason: 'OtherServerAnswers' }], 'note', []],
  ['a reason of another version', [{ type: 'Valid', status: 'False', reason: 'constructor' }], 'broken'],
])('a ClusterAgent with %s has the severity with which it explains its hosts', (_, conditions, state, urgent = [state]) => {
  const agent = { metadata: { name: 'rack-1' }, status: { conditions } } as unknown as KubernetesObject;
  const hosts = toHostsPage({ hosts: [], counts: { ok: 0, broken: 0, unknown: 0 } }, [agent], 5);
  expect(hosts.clusterAgents.map((one) => one.state)).toEqual([state]);
  expect(toAttention({ hosts }).items.map((one) => one.state)).toEqual(urgent);
});
