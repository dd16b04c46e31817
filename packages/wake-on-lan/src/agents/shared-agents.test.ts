import { expect, it } from 'vitest';
import { readConfig } from '../config/wol-config-fixtures.js';
import { wolConfigStatus } from '../controller/wol-config-status.js';
import { planWakeAgents } from './plan-wake-agents.js';

const SETTINGS = { namespace: 'agents', image: 'i', imagePullSecrets: [], manager: 'm:1', tlsSecret: undefined };

it('a WolConfig whose second port is opened by agents that do not run is not Ready', () => {
  const configs = [
    readConfig('one', { wolPorts: [9] }, 1),
    readConfig('two', { wolPorts: [7] }, 2),
    readConfig('both', { wolPorts: [9, 7] }, 3),
  ];
  const first = planWakeAgents({ configs, daemonSets: [] }, SETTINGS);
  const daemonSets = first.writes.map(({ object }) => ({
    ...object,
    status: {
      observedGeneration: 1,
      desiredNumberScheduled: object.metadata.name === 'wol-agent-one' ? 3 : 0,
      numberReady: object.metadata.name === 'wol-agent-one' ? 3 : 0,
    },
  }));
  const { agents } = planWakeAgents({ configs, daemonSets }, SETTINGS);
  const both = configs[2];
  const ofBoth = agents.get('both');
  if (both === undefined || ofBoth === undefined) throw new Error('no plan');
  const { conditions } = wolConfigStatus({
    config: both,
    managed: 1,
    duplicates: [],
    missing: [],
    agents: ofBoth,
    failure: undefined,
  });
  expect(conditions.find(({ type }) => type === 'Ready')).not.toMatchObject({ status: 'True' });
});
