import { expect, it } from 'vitest';
import { bindCommand } from './bind.js';

it.each(['ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:01', '00:00:00:00:00:00'])('bind --to %s is refused: no client has it', (mac) => {
  const command = bindCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  expect(() => command.parseOptions(['--to', mac])).toThrow();
});
