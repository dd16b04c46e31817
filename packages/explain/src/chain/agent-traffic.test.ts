import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostFrequent, packetsOf, parseAgentTraffic, refusalsOf } from './agent-traffic.js';

const CLIENT = {
  mac: '02-00-5E-00-00-01',
  pool: 'default/net-48',
  interface: 'net1',
  messages: { DISCOVER: 3, REQUEST: 1 },
  answers: { OFFER: 2, NAK: 1 },
  unanswered: { 'other-server-selected': 1 },
  lastAtMs: 5000,
  last: [{ atMs: 5000, received: 'DISCOVER', from: '0.0.0.0', answer: null, reason: 'other-server-selected' }],
};
const printed = (more: object = {}) => JSON.stringify({ agent: 'agent-1', sinceMs: 1000, clients: [CLIENT], ...more });

describe('the output of an agent', () => {
  it('lists its clients, with their last packets', () => {
    const { clients, ...agent } = parseAgentTraffic(printed()) ?? { clients: [] };
    expect(agent).toMatchObject({ agent: 'agent-1', sinceMs: 1000 });
    expect(clients).toMatchObject([
      { macAddress: '02:00:5e:00:00:01', pool: 'default/net-48', last: [{ answer: undefined, reason: 'other-server-selected' }] },
    ]);
    expect(clients.map((one) => [packetsOf(one), refusalsOf(one), mostFrequent(one.messages)])).toEqual([[4, 2, 'DISCOVER']]);
  });

  it('includes in the counts of its pools the clients that are not listed', () => {
    const pools = [{ ...CLIENT, messages: { DISCOVER: 1000 } }];
    expect(parseAgentTraffic(printed({ pools }))?.places).toMatchObject([{ messages: { DISCOVER: 1000 } }]);
  });

  it('loses only the entries that cannot be read', () => {
    const clients = [
      { ...CLIENT, mac: 'x' },
      { ...CLIENT, messages: { DISCOVER: -1, REQUEST: 'many', INFORM: 2 } },
    ];
    expect(parseAgentTraffic(printed({ clients }))?.clients).toMatchObject([{ messages: { INFORM: 2 } }]);
  });

  it.each(['', '{', '[]', '{"clients":{}}', 'null'])('%j is not such an output', (text) =>
    expect(parseAgentTraffic(text)).toBeUndefined(),
  );
});

it('no text makes the parser throw', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (one, two) => {
      const text = `{"agent":${one},"clients":[${two},{"mac":"02:00:5e:00:00:01","messages":${one},"last":[${two}]}]}`;
      expect(parseAgentTraffic(text)?.clients.length).toBeGreaterThan(0);
    }),
  );
});
