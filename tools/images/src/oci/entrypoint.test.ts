import { expect, it } from 'vitest';
import { PROGRAM_IMAGES } from '../program-image.js';
import { toEntrypoint } from './image-config.js';

it('the program of the agent has the path by which kubectl vmdhcp executes it (AGENT_PROGRAM of @vmdhcp/ippool-api/agent)', () => {
  const [agent] = PROGRAM_IMAGES.filter(({ name }) => name === 'agent').map(toEntrypoint);
  expect(agent).toEqual(['/usr/bin/node', '/app/node_modules/vmdhcp-agent/bin/vmdhcp-agent.js']);
});
