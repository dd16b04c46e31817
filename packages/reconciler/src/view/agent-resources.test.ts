import { expect, it } from 'vitest';
import { agentResources } from './agent-resources.js';
import { SETTINGS } from './agents-fixtures.js';

type Choices = Parameters<typeof agentResources>;
const OWN = ['deployments', 'unifiedDeployment', 'leases', 'pods'];
const OWN_PREVIOUS = ['previousDeployments', 'previousUnifiedDeployment', 'previousLeases', 'previousPods'];

it.each<[string, Partial<Choices[0]>, readonly string[]]>([
  ['its own agents', {}, OWN],
  ['agents with rights of their own', { groupRights: true }, [...OWN, 'serviceAccounts', 'roles', 'roleBindings']],
  ['agents that ran in another namespace before', { previousNamespace: 'old' }, [...OWN, ...OWN_PREVIOUS]],
  [
    'agents with rights of their own that ran in another namespace before',
    { groupRights: true, previousNamespace: 'old' },
    [...OWN, 'serviceAccounts', 'roles', 'roleBindings', ...OWN_PREVIOUS, 'previousServiceAccounts'],
  ],
])('kinds that a controller reads for %s', (_, settings, kinds) => {
  const resources = agentResources({ ...SETTINGS, ...settings });
  expect(Object.keys(resources)).toEqual(kinds);
  for (const [kind, resource] of Object.entries(resources)) {
    const isOfPools = kind === 'roles' || kind === 'roleBindings';
    expect(resource.namespace).toBe(isOfPools ? undefined : kind.startsWith('previous') ? 'old' : SETTINGS.namespace);
  }
});

it("rights are read in the controller's namespace for pools, if it has one", () => {
  const resources = agentResources({ ...SETTINGS, groupRights: true, previousNamespace: 'old' }, 'tenant');
  const namespaces = [resources.roles, resources.roleBindings, resources.serviceAccounts].map((one) => one?.namespace);
  expect(namespaces).toEqual(['tenant', 'tenant', SETTINGS.namespace]);
});
