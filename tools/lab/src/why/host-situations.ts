/** Problems of bare-metal hosts, their ClusterAgents and their HostEndpoints. */
import { type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import type { HostCluster } from './host-cluster.js';
import { AGENTS } from './why-cluster.js';

export interface HostSituation {
  readonly reason: string;
  /** Creates the problem. @returns the address to ask about. */
  readonly make: (cluster: HostCluster) => Promise<string>;
}

const mac = (last: number): string => `02:00:5e:00:60:${last.toString(16).padStart(2, '0')}`;

/** A ClusterAgent of this name, of which an address that no host has is asked for. */
const ofNetwork = (reason: string, ...[name, agentYaml, config]: Parameters<HostCluster['addNetwork']>): HostSituation => ({
  reason,
  make: async (cluster) => `${await cluster.addNetwork(name, agentYaml, config)}.40`,
});

/** The second network of the cluster: its agents lead, and have their inventory. */
const RACK = '10.51.0';
/** The third one: its agents lead, and have none. */
const QUIET = '10.52.0';

/** Creates a ClusterAgent that an earlier definition accepted, before the controller starts. @returns the address to ask about. */
export async function addInvalidNetwork(cluster: HostCluster): Promise<string> {
  await cluster.defineWithoutRules();
  return `${await cluster.addNetwork('invalid', {}, { ipRange: '10.200.0.10-10.200.0.20' })}.40`;
}

export async function addHostNetworks(cluster: HostCluster): Promise<void> {
  for (const name of ['rack', 'quiet']) {
    await cluster.addNetwork(name);
    await cluster.lead(name);
  }
  cluster.serve('rack');
}

const HOST_SITUATIONS_OF_HOSTS: readonly HostSituation[] = [
  { reason: 'HostAddressFree', make: async () => `${RACK}.40` },
  {
    reason: 'LeaseEnded',
    make: async (cluster) => {
      await cluster.lease(`${RACK}.10`, mac(10));
      await cluster.lease(`${RACK}.10`, undefined);
      return `${RACK}.10`;
    },
  },
  {
    reason: 'MacAddressChanged',
    make: async (cluster) => {
      await cluster.lease(`${RACK}.11`, mac(11));
      await cluster.lease(`${RACK}.11`, mac(111));
      return `${RACK}.11`;
    },
  },
  {
    reason: 'BindingUnreadable',
    make: async (cluster) => {
      await cluster.bind(await cluster.lease(`${RACK}.12`, mac(12)), 'web');
      return `${RACK}.12`;
    },
  },
  {
    reason: 'BoundAddressInUse',
    make: async (cluster) => {
      await cluster.bind(await cluster.lease(`${RACK}.13`, mac(13)), mac(113));
      return `${RACK}.13`;
    },
  },
  {
    reason: 'BoundElsewhere',
    make: async (cluster) => {
      for (const last of [14, 15]) await cluster.bind(await cluster.lease(`${RACK}.${last}`, mac(last)), mac(114));
      return `${RACK}.15`;
    },
  },
  {
    reason: 'HostUnhealthy',
    make: async (cluster) => {
      cluster.break(`${RACK}.16`, 'no route to host');
      await cluster.lease(`${RACK}.16`, mac(16));
      return `${RACK}.16`;
    },
  },
];

const HOST_SITUATIONS_OF_ENDPOINTS: readonly HostSituation[] = [
  {
    reason: 'HostEndpointInvalid',
    make: async (cluster) => {
      await cluster.addEndpoint('gateway', 'rack', { ipAddr: `${RACK}.1` });
      return `${RACK}.1`;
    },
  },
  {
    reason: 'HostEndpointAddressTaken',
    make: async (cluster) => {
      for (const name of ['taken-1', 'taken-2']) await cluster.addEndpoint(name, 'rack', { ipAddr: `${RACK}.150` });
      return `${RACK}.150`;
    },
  },
  {
    reason: 'HostStatusNameTaken',
    make: async (cluster) => {
      await cluster.addForeignStatus(`rack-${RACK.replaceAll('.', '-')}-151`, 'quiet');
      await cluster.addEndpoint('name-taken', 'rack', { ipAddr: `${RACK}.151` });
      return `${RACK}.151`;
    },
  },
  {
    reason: 'HostStatusPending',
    make: async (cluster) => {
      await cluster.addEndpoint('pending', 'quiet', { ipAddr: `${QUIET}.150` });
      return `${QUIET}.150`;
    },
  },
  {
    reason: 'HostSecretUnusable',
    make: async (cluster) => {
      await cluster.addEndpoint('secret', 'quiet', { ipAddr: `${QUIET}.151`, secretName: 'none', secretNamespace: AGENTS });
      return `${QUIET}.151`;
    },
  },
  {
    reason: 'ClusterAgentMissing',
    make: async (cluster) => {
      await cluster.addEndpoint('nowhere', 'nowhere', { ipAddr: '10.99.0.5' });
      return '10.99.0.5';
    },
  },
];

const HOST_SITUATIONS_OF_AGENTS: readonly HostSituation[] = [
  ofNetwork('HostAgentsNotLeading', 'idle'),
  ofNetwork('HostAgentsOff', 'off', { replicas: 0 }),
  ofNetwork('HostAgentsStarting', 'starting'),
  ofNetwork('OneAgentOnly', 'one', { hostNetwork: true, underlayInterface: 'eth1', nodeName: 'node-1', replicas: 2 }),
  {
    reason: 'UnderlayShared',
    make: async (cluster) => {
      const older = await cluster.addNetwork('shared-1', { underlayInterface: 'default/shared' });
      const subnet = `${older}.0/24`;
      const same = { subnet, ipRange: `${older}.10-${older}.20`, gateway: `${older}.1`, selfIp: `${older}.2/24` };
      await cluster.admin.waitForObject('Deployment', `${AGENTS}/agent-shared-1`, () => true);
      await cluster.addNetwork('shared-2', { underlayInterface: 'default/shared' }, same);
      return `${older}.40`;
    },
  },
  {
    reason: 'HostAgentsStuck',
    make: async (cluster) => {
      const start = await cluster.addNetwork('stuck');
      const key = `${AGENTS}/agent-stuck`;
      await cluster.admin.waitForObject(
        'Deployment',
        key,
        ({ status }) => JSON.stringify(status)?.includes('unavailableReplicas') === true,
      );
      const longAgo = '2026-01-01T00:00:00Z';
      const condition = {
        type: 'Progressing',
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: 'has timed out progressing',
      };
      const conditions = [{ ...condition, lastUpdateTime: longAgo, lastTransitionTime: longAgo }];
      await cluster.admin.client('Deployment').patchStatus({ key }, { status: { conditions } });
      return `${start}.40`;
    },
  },
  {
    reason: 'HostAgentsRefused',
    make: async (cluster) => {
      const labels = { app: 'other' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'other', image: 'other' }] } };
      const spec = { replicas: 0, selector: { matchLabels: labels }, template };
      const metadata = { namespace: AGENTS, name: 'agent-refused' };
      await cluster.admin.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec } as KubernetesObject);
      const start = await cluster.addNetwork('refused');
      // Before requests of the controller fail.
      await cluster.admin.waitForObject('ClusterAgent', 'refused', ({ status }) =>
        readConditions(status).some(({ reason }) => reason === 'HostAgentsRefused'),
      );
      return `${start}.40`;
    },
  },
  {
    // From here on no Role can be created.
    reason: 'HostAgentsFailed',
    make: async (cluster) => {
      cluster.cluster.simulator.faults.inject({
        requests: { verb: 'create', resource: 'roles', namespace: AGENTS },
        effect: { kind: 'answer', status: 403 },
        times: 0,
      });
      return `${await cluster.addNetwork('failed')}.40`;
    },
  },
];

/** In an order: from some of them on, requests of the controller fail. */
export const HOST_SITUATIONS: readonly HostSituation[] = [
  ...HOST_SITUATIONS_OF_HOSTS,
  ...HOST_SITUATIONS_OF_ENDPOINTS,
  ...HOST_SITUATIONS_OF_AGENTS,
];
