import { describe, expect, it } from 'vitest';
import { agentInterfaceName } from './interface-name.js';

describe('agentInterfaceName', () => {
  it('depends only on the pool, fits into 15 characters, and differs between pools', () => {
    const names = new Set<string>();
    for (let index = 0; index < 10_000; index++) names.add(agentInterfaceName(`default/net-${index}`));
    expect(names.size).toBe(10_000);
    expect([...names].every((name) => /^net[0-9a-f]{12}$/.test(name))).toBe(true);
    expect(agentInterfaceName('default/net-48')).toBe(agentInterfaceName('default/net-48'));
  });
});
