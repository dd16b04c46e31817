import { expect, it } from 'vitest';
import { AGENT_PROGRAM } from './agent-program.js';

it('is the entrypoint of the image of the agent (a test of tools/images has the same words)', () => {
  expect(AGENT_PROGRAM).toEqual(['/usr/bin/node', '/app/node_modules/vmdhcp-agent/bin/vmdhcp-agent.js']);
});
