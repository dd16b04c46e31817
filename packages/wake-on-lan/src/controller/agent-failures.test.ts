import { expect, it } from 'vitest';
import { planWakeAgents } from '../agents/plan-wake-agents.js';
import { readConfig } from '../config/wol-config-fixtures.js';
import { AgentFailures } from './agent-failures.js';

const SETTINGS = { namespace: 'agents', image: 'i', imagePullSecrets: [], manager: 'm:1', tlsSecret: undefined };

it('the refusal of a shared DaemonSet is a failure of each WolConfig whose ports its agents open', () => {
  const before = [readConfig('one', { wolPorts: [9] }, 1), readConfig('two', { wolPorts: [8] }, 2)];
  const daemonSets = planWakeAgents({ configs: before, daemonSets: [] }, SETTINGS).writes.map(({ object }) => object);
  // Now `two` asks for port 7, which `both` shares: its DaemonSet has to be changed.
  const configs = [
    readConfig('one', { wolPorts: [9] }, 1),
    readConfig('two', { wolPorts: [7] }, 2),
    readConfig('both', { wolPorts: [9, 7] }, 3),
  ];
  const plan = planWakeAgents({ configs, daemonSets }, SETTINGS);
  const failures = new AgentFailures();
  failures.keepOnly(plan);
  const changed = plan.writes.filter(({ kind }) => kind === 'patch');
  expect(changed.map(({ object }) => object.metadata.name)).toEqual(['wol-agent-two']);
  for (const write of changed) failures.note(write, { ok: false, reason: 'forbidden', message: 'denied by a policy' });
  const refused = expect.objectContaining({
    message: expect.stringContaining('agents/wol-agent-two was refused') as string,
  }) as object;
  expect(['one', 'two', 'both'].map((name) => failures.of(name))).toEqual([undefined, refused, refused]);
});
