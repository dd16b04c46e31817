import { expect, it } from 'vitest';
import { findingsOf, instance, lease, observe, pool } from './chain-fixtures.js';
import { explainAddress } from './explain-address.js';

const STOPPED = 'spec.onRogueServer is Stop, and another DHCP server answers on the network; switch it off';
const REPORT = {
  serving: false,
  reason: 'RogueServer',
  message: STOPPED,
  rogueServers: [{ address: '10.1.0.66', macAddress: '02:00:00:00:00:66' }],
};
// As agent-conditions.ts writes them.
const CONDITIONS = [
  { type: 'AgentReady', status: 'False', reason: 'RogueServer', message: STOPPED },
  { type: 'RogueServer', status: 'True', reason: 'RogueServer', message: 'another DHCP server answers: 10.1.0.66' },
];

it.each([
  ['without a guest agent', instance({ infoSource: 'domain' })],
  ['with a guest agent that reports no address', instance({ infoSource: 'domain, guest-agent' })],
  ['that is stopped', undefined],
])('a pool that stops for a rogue server breaks the way of a virtual machine %s', (_, one) => {
  const chain = explainAddress(observe({ pool: pool({ conditions: CONDITIONS }), lease: lease(REPORT), instance: one }));
  expect(findingsOf(chain)).toContainEqual(expect.objectContaining({ link: 'report', reason: 'RogueServer', state: 'broken' }));
  expect(chain).toMatchObject({ state: 'broken', interfaces: [{ brokenAt: 'report' }] });
});
