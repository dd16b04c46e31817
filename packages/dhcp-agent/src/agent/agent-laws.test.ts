import { expect, it } from 'vitest';
import { playAgentStory, type Wire } from './agent-story-fixtures.js';

/** `npm test -- seeds` plays thousands. */
const SEEDS = 20;

it(`law, ${SEEDS} stories: no address is on two interfaces, and a client that retransmits is answered while any replica can`, async () => {
  const faults: string[] = [];
  for (let seed = 0; seed < SEEDS; seed++) {
    for (const { kind, message } of await playAgentStory(seed)) faults.push(`seed ${seed}: ${kind}: ${message}`);
  }
  expect(faults).toEqual([]);
}, 600_000);

const ONE_ADDRESS = 0x0a_00_00_0a;
const FAULTY_AGENTS: readonly (readonly [what: string, kind: string, wire: Wire])[] = [
  ['offer every client one address', 'double-owner', (reply) => ({ ...reply, address: ONE_ADDRESS })],
  [
    'offer each client an address of the pool that is not its own',
    'other',
    (reply) => ({ ...reply, address: reply.address + 64 }),
  ],
  ['offer addresses of no pool', 'other', (reply) => ({ ...reply, address: reply.address + 0x01_00_00_00 })],
  ['refuse what clients ask for', 'other', (reply) => ({ ...reply, type: 'nak' })],
];

it.each(FAULTY_AGENTS)('the laws find agents that %s', async (_, kind, wire) => {
  expect((await playAgentStory(0, wire)).map((fault) => fault.kind)).toContain(kind);
});

it('the laws find clients that get no reply', async () => {
  const toNobody: Wire = (reply) => ({ ...reply, xid: 0 });
  expect((await playAgentStory(0, toNobody)).map(({ kind }) => kind)).toContain('unanswered');
});
