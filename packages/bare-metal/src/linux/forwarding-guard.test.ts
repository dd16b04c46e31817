import { expect, it } from 'vitest';
import { ForwardingGuard } from './forwarding-guard.js';

it('forwarding is stopped, and each change is one line', () => {
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, text?: string) => void lines.push(`${level} ${text}`);
  const logger = { info: note('info'), warn: note('warn'), error: note('error') } as never;
  let [index, problem] = [3, undefined as string | undefined];
  let corrected: string[] = ['forwarding'];
  const guard = new ForwardingGuard({
    logger,
    indexOf: () => index,
    stopForwarding: () => {
      if (problem !== undefined) throw new Error(problem);
      return corrected;
    },
  });
  const look = (): string[] => {
    lines.length = 0;
    for (let second = 0; second < 3; second++) {
      guard.check('net1');
      corrected = [];
    }
    return [...lines];
  };
  guard.check(undefined);
  expect(look()).toEqual(['info nothing is forwarded from the interface to other networks']);
  corrected = ['forwarding'];
  expect(look()).toEqual(['warn another program enabled forwarding on the interface: the agent corrected it']);
  problem = 'EPERM';
  expect(look()).toEqual([
    'error machines of the management network may reach other networks through this pod: EPERM; trying again every second',
  ]);
  problem = undefined;
  expect(look()).toEqual(['info nothing is forwarded from the interface to other networks']);
  index = 0;
  expect(look()).toEqual([]);
  index = 9;
  expect(look()).toEqual(['info nothing is forwarded from the interface to other networks']);
});
