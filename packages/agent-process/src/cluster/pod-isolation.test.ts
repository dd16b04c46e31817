import { agentInterfaceName } from '@vmdhcp/reconciler';
import { expect, it } from 'vitest';
import { interfacesToIsolate } from './pod-isolation.js';

const POOL = agentInterfaceName('default/net-48');
const PRESENT = ['lo', 'eth0', 'net1', POOL, 'sidecar0'];

it.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ['a pod whose configuration cannot be read', [], ['eth0'], ['net1', POOL]],
  ['one that serves an interface', [POOL], ['eth0'], [POOL, 'net1']],
  ['an interface with a name of its own, which is served', ['sidecar0'], ['eth0'], ['sidecar0', 'net1', POOL]],
  ['an interface that is not there yet', ['net7'], ['eth0'], ['net7', 'net1', POOL]],
  ['one whose own interface has such a name', [], ['net1'], [POOL]],
  ['one whose own interface is not known', [POOL], [], [POOL]],
])('%s', (_, configured, own, expected) => {
  expect(interfacesToIsolate({ configured, present: PRESENT, own: new Set(own) })).toEqual(expected);
});
