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

it('a WolConfig whose second port is opened by a DaemonSet that cannot be changed is not Ready, although all its agents run', () => {
  const configs = [
    readConfig('one', { wolPorts: [9] }, 1),
    readConfig('two', { wolPorts: [7] }, 2),
    readConfig('both', { wolPorts: [9, 7] }, 3),
  ];
  const running = { observedGeneration: 1, desiredNumberScheduled: 3, numberReady: 3 };
  const first = planWakeAgents({ configs, daemonSets: [] }, SETTINGS);
  const daemonSets = first.writes.map(({ object }) => ({ ...object, status: running }));
  // The DaemonSet of `two` has another owner by now.
  const others = daemonSets.map((one) =>
    one.metadata.name === 'wol-agent-two' ? { ...one, metadata: { ...one.metadata, ownerReferences: [] } } : one,
  );
  const readyOf = (observed: typeof daemonSets) => {
    const agents = planWakeAgents({ configs, daemonSets: observed }, SETTINGS).agents.get('both');
    const config = configs[2];
    if (agents === undefined || config === undefined) throw new Error('no plan');
    const facts = { config, managed: 1, duplicates: [], missing: [], agents, failure: undefined };
    return wolConfigStatus(facts).conditions.find(({ type }) => type === 'Ready');
  };
  expect(readyOf(daemonSets)).toMatchObject({ status: 'True' });
  expect(readyOf(others)).toMatchObject({
    status: 'False',
    reason: 'AgentsRefused',
    message: expect.stringContaining('wol-agent-two') as string,
  });
});
