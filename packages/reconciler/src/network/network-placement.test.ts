import { CLUSTER_NETWORK_LABEL, NETWORK_RESOURCE_ANNOTATION } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { describePlacement, placementKey, readNetworkPlacement } from './network-placement.js';

interface Network {
  readonly clusterNetwork?: string;
  readonly resource?: string;
  readonly config?: object | string;
}

function network({ clusterNetwork, resource, config }: Network) {
  return {
    metadata: {
      namespace: 'default',
      name: 'net',
      ...(clusterNetwork !== undefined && { labels: { [CLUSTER_NETWORK_LABEL]: clusterNetwork } }),
      ...(resource !== undefined && { annotations: { [NETWORK_RESOURCE_ANNOTATION]: resource } }),
    },
    spec: { config: typeof config === 'string' ? config : JSON.stringify(config) },
  };
}

const BRIDGE = { type: 'bridge', bridge: 'br1', vlan: 48 };
const MARKER = 'bridge.network.kubevirt.io/br1';
const keyOf = (one: Network, selector = {}) => placementKey(readNetworkPlacement(network(one), selector));
/** Its parts, with spaces between them. */
const partsOf = (key: string) => (JSON.parse(key) as unknown[]).flat().filter(Boolean).join(' ');

describe('the nodes of a network', () => {
  it.each<[string, Network, Record<string, string>, string, string | undefined]>([
    ['Harvester names a cluster network', { clusterNetwork: 'mgmt', config: BRIDGE }, {}, 'mgmt', 'cluster network mgmt'],
    ['KubeVirt names a resource', { resource: MARKER, config: BRIDGE }, {}, MARKER, `agents on nodes with ${MARKER}`],
    [
      'the marker of ovs-cni',
      { resource: 'ovs-cni.network.kubevirt.io/br-ext' },
      {},
      'ovs-cni.network.kubevirt.io/br-ext',
      'agents on nodes with ovs-cni.network.kubevirt.io/br-ext',
    ],
    [
      'both',
      { clusterNetwork: 'mgmt', resource: MARKER },
      {},
      `mgmt ${MARKER}`,
      `cluster network mgmt; agents on nodes with ${MARKER}`,
    ],
    [
      'the pool selects nodes',
      { config: BRIDGE },
      { rack: 'b', arch: 'x' },
      'arch=x rack=b',
      'agents on nodes with arch=x and rack=b',
    ],
    ['a bridge', { config: BRIDGE }, {}, 'bridge br1', undefined],
    ['a bridge in a list of plugins', { config: { plugins: [BRIDGE, { type: 'tuning' }] } }, {}, 'bridge br1', undefined],
    ['an interface of the nodes', { config: { type: 'macvlan', master: 'eth1.48' } }, {}, 'nic eth1', undefined],
    [
      'localnet of OVN',
      { config: { type: 'ovn-k8s-cni-overlay', topology: 'localnet', name: 'lab', physicalNetworkName: 'phys' } },
      {},
      'localnet phys',
      undefined,
    ],
    [
      'localnet by its own name',
      { config: { name: 'lab', plugins: [{ type: 'ovn-k8s-cni-overlay', topology: 'localnet' }] } },
      {},
      'localnet lab',
      undefined,
    ],
    ['an overlay', { config: { type: 'ovn-k8s-cni-overlay', topology: 'layer2', name: 'lab' } }, {}, '', undefined],
    ['a configuration that cannot be read', { config: '{' }, {}, '', undefined],
  ])('%s', (_, one, selector, key, text) => {
    const placement = readNetworkPlacement(network(one), selector);
    expect(partsOf(placementKey(placement))).toBe(key);
    expect(describePlacement(placement)).toBe(text);
  });

  it.each([
    'nvidia.com/gpu',
    'memory',
    'cpu',
    'bridge.network.kubevirt.io/',
    'evil.bridge.network.kubevirt.io/br1',
    `${MARKER} ${MARKER}`,
  ])('agents request no other resource, whatever a network requests: %s', (resource) =>
    expect(partsOf(keyOf({ resource, config: BRIDGE }))).toBe('bridge br1'),
  );

  it('two bridges, and two VLANs of one bridge', () => {
    expect(keyOf({ config: BRIDGE })).not.toBe(keyOf({ config: { ...BRIDGE, bridge: 'br2' } }));
    expect(keyOf({ config: BRIDGE })).toBe(keyOf({ config: { ...BRIDGE, vlan: 49 } }));
  });

  it('the text of one part cannot make the key of another network', () => {
    const bridge = { type: 'bridge', bridge: 'k=v' };
    expect(keyOf({ config: bridge })).not.toBe(keyOf({ clusterNetwork: 'bridge' }, { k: 'v' }));
  });

  it('a network that does not exist needs no node', () =>
    expect(partsOf(placementKey(readNetworkPlacement(undefined, {})))).toBe(''));
});
