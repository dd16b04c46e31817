import { expect, it } from 'vitest';
import { playAgentStory } from './agent-story-fixtures.js';

const SEEDS = Number(process.env['VMDHCP_AGENT_SEEDS'] ?? 100);
const FIRST = Number(process.env['VMDHCP_AGENT_FIRST'] ?? 0);

it(`law, ${SEEDS} stories: no address is on two interfaces, and a client that retransmits is answered while any replica can`, async () => {
  const faults: string[] = [];
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    for (const { kind, message } of await playAgentStory(seed)) faults.push(`seed ${seed}: ${kind}: ${message}`);
  }
  expect(faults).toEqual([]);
}, 600_000);
