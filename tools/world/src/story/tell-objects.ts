/** Describes changes of the objects of agents and pools, for people who read a story. */
import { readConditions, readText } from '@vmdhcp/kube-runtime';
import { recordedIn } from '../auditor/address-history.js';
import { AGENT_NAMESPACE } from '../cluster/controller-run.js';
import { IPPOOLS } from '../cluster/machines.js';
import type { World } from '../cluster/world.js';

const DEPLOYMENTS = { group: 'apps', resource: 'deployments', namespace: AGENT_NAMESPACE };
const PODS = { resource: 'pods', namespace: AGENT_NAMESPACE };
const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };

/** Call it again after each start of the API server. */
export function tellObjects({ simulator: { client } }: World, tell: (line: string) => void): void {
  const said = new Map<string, string>();
  const once = (key: string, line: string) => {
    if (said.get(key) === line) return;
    said.set(key, line);
    tell(line);
  };
  client.watch(DEPLOYMENTS, ({ type, object }) => {
    if (type !== 'MODIFIED') tell(`Deployment ${object.metadata.name} ${type}`);
  });
  client.watch(PODS, ({ type, object }) => {
    const ready = readConditions(object['status']).find((one) => one.type === 'Ready')?.status ?? 'False';
    const ending = object.metadata['deletionTimestamp'] === undefined ? '' : ', being deleted';
    const name = object.metadata.name ?? '';
    once(`pod ${name}`, type === 'DELETED' ? `pod ${name} is gone` : `pod ${name}: Ready ${ready}${ending}`);
  });
  client.watch(LEASES, ({ type, object }) => {
    const holder = type === 'DELETED' ? 'deleted' : `held by ${readText(object['spec'], 'holderIdentity') || 'nobody'}`;
    once(`lease ${object.metadata.name}`, `Lease ${object.metadata.name}: ${holder}`);
  });
  client.watch(IPPOOLS, ({ type, object }) => {
    const ready = readConditions(object['status']).find((one) => one.type === 'AgentReady');
    const state = type === 'DELETED' ? 'deleted' : `AgentReady ${ready?.status} ${ready?.reason ?? ''}`;
    once(`pool ${object.metadata.name}`, `IPPool ${object.metadata.name}: ${state}`);
    const recorded = [...recordedIn(object)].map(([address, macAddress]) => `${address} ${macAddress}`);
    once(`records ${object.metadata.name}`, `IPPool ${object.metadata.name} records ${recorded.join(', ') || 'no address'}`);
  });
}
