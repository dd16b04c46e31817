import { afterEach, expect, it } from 'vitest';
import { runCommand } from './run.js';

afterEach(() => {
  delete process.env['VM_DHCP_CONTROLLER_NAME'];
});

it('VM_DHCP_CONTROLLER_NAME is the name in the log, and --name overrides it', () => {
  const nameOf = (words: readonly string[]) =>
    runCommand()
      .action(() => undefined)
      .parse(words, { from: 'user' })
      .opts()['name'];
  expect(nameOf([])).toBe('vmdhcp-controller');
  process.env['VM_DHCP_CONTROLLER_NAME'] = 'one';
  expect(nameOf([])).toBe('one');
  expect(nameOf(['--name', 'two'])).toBe('two');
});
